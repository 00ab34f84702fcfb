C     mpif.h in fixed form: constants, names for nothing, procedures of MPI.
      program included
      implicit none
      include 'mpif.h'
      integer rank, ranks, code, status(MPI_STATUS_SIZE), values(4)
      integer key, flags(2), newcomm
      integer(kind=MPI_ADDRESS_KIND) attribute
      character*(MPI_MAX_PROCESSOR_NAME) name
      double precision wave(2), sum(2)
      logical flag
      call MPI_INIT(code)
      call MPI_COMM_RANK(MPI_COMM_WORLD, rank, code)
      call MPI_COMM_SIZE(MPI_COMM_WORLD, ranks, code)
      values(1) = rank
      call MPI_SENDRECV(values, 1, MPI_INTEGER, mod(rank+1, ranks), 3,
     &  values(2), 1, MPI_INTEGER, MPI_ANY_SOURCE, MPI_ANY_TAG,
     &  MPI_COMM_WORLD, status, code)
      call check(values(2) .eq. mod(rank+ranks-1, ranks), 'a message')
      call check(status(MPI_TAG) .eq. 3, 'a status')
      wave(1) = 1d0
      wave(2) = rank
      call MPI_ALLREDUCE(wave, sum, 2, MPI_DOUBLE_PRECISION, MPI_SUM,
     &  MPI_COMM_WORLD, code)
      call check(nint(sum(1)) .eq. ranks, 'a sum')
      call MPI_ALLREDUCE(MPI_IN_PLACE, wave, 2, MPI_DOUBLE_PRECISION,
     &  MPI_SUM, MPI_COMM_WORLD, code)
      call check(wave(2) .eq. sum(2), 'MPI_IN_PLACE')
      call MPI_COMM_CREATE_KEYVAL(MPI_COMM_DUP_FN,
     &  MPI_COMM_NULL_DELETE_FN, key, attribute, code)
      attribute = 5
      call MPI_COMM_SET_ATTR(MPI_COMM_WORLD, key, attribute, code)
      call MPI_COMM_DUP(MPI_COMM_WORLD, newcomm, code)
      attribute = 0
      call MPI_COMM_GET_ATTR(newcomm, key, attribute, flag, code)
      call check(flag .and. attribute .eq. 5, 'MPI_COMM_DUP_FN')
      call MPI_COMM_FREE(newcomm, code)
      call MPI_GET_PROCESSOR_NAME(name, flags(1), code)
      call check(len_trim(name) .eq. flags(1), 'a name')
      call check(MPI_WTIME() .gt. 0d0, 'MPI_WTIME')
      call MPI_FINALIZE(code)
      end
