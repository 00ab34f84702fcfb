C     The bindings of mpif.h (MPI 5.0, chapter 19.1.4): constants that are addresses, callbacks that are subroutines, and
C     attributes as both languages see them (section 19.3.7).

      program includefile
      implicit none
      include 'mpif.h'
      integer error, provided, rank, size, left, right

      call mpi_init_thread(MPI_THREAD_FUNNELED, provided, error)
      call mpi_comm_rank(MPI_COMM_WORLD, rank, error)
      call mpi_comm_size(MPI_COMM_WORLD, size, error)
      left = mod(rank + size - 1, size)
      right = mod(rank + 1, size)
      call messages(rank, left, right)
      call reductions(rank, size)
      call attributes()
      call handlers()
      call generalized()
      call windows(rank, left, right)
      call mpi_finalize(error)
      end

C     Says where something is wrong, and ends the job.
      subroutine check(condition, what)
      implicit none
      include 'mpif.h'
      logical condition
      character*(*) what
      integer error
      if (.not. condition) then
          print *, 'include_file: ', what
          call mpi_abort(MPI_COMM_WORLD, 1, error)
      end if
      end

      subroutine messages(rank, left, right)
      implicit none
      include 'mpif.h'
      integer rank, left, right, error, other, type, count
      integer requests(2), states(MPI_STATUS_SIZE, 2)
      integer state(MPI_STATUS_SIZE), values(3), got(3)
      integer(kind=MPI_ADDRESS_KIND) place(2)
      logical flag

      call mpi_sendrecv(rank, 1, MPI_INTEGER, right, 1, other, 1,
     &    MPI_INTEGER, left, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE,
     &    error)
      call check(other .eq. left, 'ring')

      values = (/ rank, rank + 1, rank + 2 /)
      call mpi_isend(values, 3, MPI_INTEGER, right, 2, MPI_COMM_WORLD,
     &    requests(1), error)
      call mpi_irecv(got, 3, MPI_INTEGER, left, 2, MPI_COMM_WORLD,
     &    requests(2), error)
      call mpi_waitall(2, requests, states, error)
      call check(got(3) .eq. left + 2, 'nonblocking')
      call check(states(MPI_SOURCE, 2) .eq. left, 'source')
      call mpi_get_count(states(1, 2), MPI_INTEGER, count, error)
      call check(count .eq. 3, 'count')
      call check(requests(1) .eq. MPI_REQUEST_NULL, 'null request')
      call mpi_waitall(2, requests, MPI_STATUSES_IGNORE, error)
      call mpi_testall(2, requests, flag, MPI_STATUSES_IGNORE, error)
      call check(flag, 'no request')

C     Absolute addresses, from MPI_BOTTOM.
      call mpi_get_address(values(3), place(1), error)
      call mpi_get_address(values(1), place(2), error)
      call mpi_type_create_hindexed(2, (/ 1, 1 /), place,
     &    MPI_INTEGER, type, error)
      call mpi_type_commit(type, error)
      call mpi_sendrecv(MPI_BOTTOM, 1, type, right, 3, got, 2,
     &    MPI_INTEGER, left, 3, MPI_COMM_WORLD, state, error)
      call check(got(1) .eq. left + 2 .and. got(2) .eq. left, 'bottom')
      call mpi_type_free(type, error)
      end

      subroutine reductions(rank, size)
      implicit none
      include 'mpif.h'
      integer rank, size, error, value, op, ignored
      double precision pair(2), most(2)
      external largest
      value = rank
      call mpi_allreduce(MPI_IN_PLACE, value, 1, MPI_INTEGER, MPI_SUM,
     &    MPI_COMM_WORLD, error)
      call check(value .eq. size * (size - 1) / 2, 'in place')
      call mpi_op_create(largest, .true., op, error)
      call mpi_allreduce(rank, value, 1, MPI_INTEGER, op,
     &    MPI_COMM_WORLD, error)
      call check(value .eq. size - 1, 'operation of the user')
      call mpi_op_free(op, error)
      pair = (/ -1d0 * rank, 1d0 * rank /)
      call mpi_allreduce(pair, most, 1, MPI_2DOUBLE_PRECISION,
     &    MPI_MAXLOC, MPI_COMM_WORLD, ignored)
      call check(most(1) .eq. 0d0 .and. most(2) .eq. 0d0, 'maxloc')
      end

      subroutine largest(in, inout, length, type)
      implicit none
      integer length, type, index, in(length), inout(length)
      do index = 1, length
          inout(index) = max(in(index), inout(index))
      end do
      end

      subroutine attributes()
      implicit none
      include 'mpif.h'
      integer error, key, old, other, value
      integer(kind=MPI_ADDRESS_KIND) state, wide
      integer calls
      common /counted/ calls
      logical flag
      external copied, deleted

      call mpi_comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, wide, flag,
     &    error)
      call check(flag .and. wide .ge. 32767, 'largest tag')
      call mpi_attr_get(MPI_COMM_WORLD, MPI_TAG_UB, value, flag, error)
      call check(flag .and. value .eq. wide, 'old call, largest tag')

      calls = 0
      state = 7
      call mpi_comm_create_keyval(copied, deleted, key, state, error)
      wide = -5000000000_MPI_ADDRESS_KIND
      call mpi_comm_set_attr(MPI_COMM_SELF, key, wide, error)
      call mpi_comm_dup(MPI_COMM_SELF, other, error)
      call mpi_comm_get_attr(other, key, wide, flag, error)
      call check(flag, 'attribute of the duplicate')
      call check(wide .eq. -4999999993_MPI_ADDRESS_KIND, 'its value')
      call mpi_comm_free(other, error)
      call mpi_comm_delete_attr(MPI_COMM_SELF, key, error)
      call check(calls .eq. 3, 'callbacks')
      call mpi_comm_get_attr(MPI_COMM_SELF, key, wide, flag, error)
      call check(.not. flag, 'deleted attribute')
      call mpi_comm_free_keyval(key, error)
      call check(key .eq. MPI_KEYVAL_INVALID, 'freed key')

      call mpi_keyval_create(MPI_DUP_FN, MPI_NULL_DELETE_FN, old, 0,
     &    error)
      call mpi_attr_put(MPI_COMM_SELF, old, -3, error)
      call mpi_comm_dup(MPI_COMM_SELF, other, error)
      call mpi_attr_get(other, old, value, flag, error)
      call check(flag .and. value .eq. -3, 'old call, duplicate')
      call mpi_comm_free(other, error)
      call mpi_attr_delete(MPI_COMM_SELF, old, error)
      call mpi_keyval_free(old, error)
      end

      subroutine copied(comm, key, state, in, out, flag, error)
      implicit none
      include 'mpif.h'
      integer comm, key, error, calls
      integer(kind=MPI_ADDRESS_KIND) state, in, out
      common /counted/ calls
      logical flag
      calls = calls + 1
      out = in + state
      flag = .true.
      error = MPI_SUCCESS
      end

      subroutine deleted(comm, key, value, state, error)
      implicit none
      include 'mpif.h'
      integer comm, key, error, calls
      integer(kind=MPI_ADDRESS_KIND) value, state
      common /counted/ calls
      calls = calls + 1
      error = MPI_ERR_OTHER
      if (state .eq. 7 .and. value .lt. -4000000000_MPI_ADDRESS_KIND)
     &    error = MPI_SUCCESS
      end

      subroutine handlers()
      implicit none
      include 'mpif.h'
      integer error, handler, class, seen, length
      character*(MPI_MAX_ERROR_STRING) text
      common /handled/ seen
      external handle
      call mpi_comm_create_errhandler(handle, handler, error)
      call mpi_comm_set_errhandler(MPI_COMM_SELF, handler, error)
      call mpi_send(0, 1, MPI_INTEGER, 99, 0, MPI_COMM_SELF, error)
      call mpi_error_class(seen, class, error)
      call check(class .eq. MPI_ERR_RANK, 'error handler')
      call mpi_errhandler_free(handler, error)
      call mpi_comm_set_errhandler(MPI_COMM_SELF,
     &    MPI_ERRORS_ARE_FATAL, error)
      call mpi_error_string(MPI_ERR_RANK, text, length, error)
      call check(length .gt. 0 .and. text(1:1) .ne. ' ', 'text')
      end

      subroutine handle(comm, code)
      implicit none
      integer comm, code, seen
      common /handled/ seen
      seen = code
      end

      subroutine generalized()
      implicit none
      include 'mpif.h'
      integer request, error, count, state(MPI_STATUS_SIZE), steps
      integer(kind=MPI_ADDRESS_KIND) extra
      common /steps/ steps
      logical flag
      external asked, freed, cancelled
      extra = 5
      steps = 0
      call mpi_grequest_start(asked, freed, cancelled, extra, request,
     &    error)
      call mpi_cancel(request, error)
      call check(steps .eq. 1, 'cancel')
      call mpi_grequest_complete(request, error)
      call mpi_wait(request, state, error)
      call check(error .eq. MPI_SUCCESS .and. steps .eq. 111, 'free')
      call mpi_get_elements(state, MPI_INTEGER, count, error)
      call check(count .eq. 5, 'elements')
      call mpi_test_cancelled(state, flag, error)
      call check(flag .and. state(MPI_TAG) .eq. 12, 'cancelled')
      end

      subroutine asked(extra, state, error)
      implicit none
      include 'mpif.h'
      integer(kind=MPI_ADDRESS_KIND) extra
      integer state(MPI_STATUS_SIZE), error, count, steps
      common /steps/ steps
      count = int(extra)
      call mpi_status_set_elements(state, MPI_INTEGER, count, error)
      call mpi_status_set_cancelled(state, .true., error)
      state(MPI_SOURCE) = MPI_UNDEFINED
      state(MPI_TAG) = 12
      steps = steps + 10
      error = MPI_SUCCESS
      end

      subroutine freed(extra, error)
      implicit none
      include 'mpif.h'
      integer(kind=MPI_ADDRESS_KIND) extra
      integer error, steps
      common /steps/ steps
      if (extra .eq. 5) steps = steps + 100
      error = MPI_SUCCESS
      end

      subroutine cancelled(extra, complete, error)
      implicit none
      include 'mpif.h'
      integer(kind=MPI_ADDRESS_KIND) extra
      integer error, steps
      logical complete
      common /steps/ steps
      if (extra .eq. 5 .and. .not. complete) steps = steps + 1
      error = MPI_SUCCESS
      end

      subroutine windows(rank, left, right)
      implicit none
      include 'mpif.h'
      integer rank, left, right, error, window, memory(4)
      integer(kind=MPI_ADDRESS_KIND) bytes, value, place
      logical flag
      bytes = 16
      memory = 0
      call mpi_win_create(memory, bytes, 4, MPI_INFO_NULL,
     &    MPI_COMM_WORLD, window, error)
      call mpi_win_get_attr(window, MPI_WIN_SIZE, value, flag, error)
      call check(flag .and. value .eq. 16, 'size of a window')
      call mpi_win_get_attr(window, MPI_WIN_DISP_UNIT, value, flag,
     &    error)
      call check(flag .and. value .eq. 4, 'unit of a window')
      call mpi_win_get_attr(window, MPI_WIN_BASE, value, flag, error)
      call mpi_get_address(memory, place, error)
      call check(flag .and. value .eq. place, 'base of a window')
      call mpi_win_fence(0, window, error)
      value = 2
      call mpi_put(rank, 1, MPI_INTEGER, right, value, 1, MPI_INTEGER,
     &    window, error)
      call mpi_win_fence(0, window, error)
      call check(memory(3) .eq. left, 'put')
      call mpi_win_free(window, error)
      end
