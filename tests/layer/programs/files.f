C     Files by the include file, whose functions of MPICH call C by its MPI names.
      program files
      implicit none
      include 'mpif.h'
      integer fh, rank, error, class, status(MPI_STATUS_SIZE)
      integer values(3), found(3), i
      integer(kind=MPI_OFFSET_KIND) place
      character*200 path
      call MPI_INIT(error)
      call MPI_COMM_RANK(MPI_COMM_WORLD, rank, error)
      call get_command_argument(1, path)
      call MPI_FILE_OPEN(MPI_COMM_WORLD, path,
     &    MPI_MODE_CREATE + MPI_MODE_RDWR, MPI_INFO_NULL, fh, error)
      do i = 1, 3
          values(i) = 10 * rank + i
      end do
      place = 12 * rank
      call MPI_FILE_SET_ERRHANDLER(fh, MPI_ERRORS_ARE_FATAL, error)
      call MPI_FILE_WRITE_AT_ALL(fh, place, values, 3, MPI_INTEGER,
     &    status, error)
      call MPI_FILE_READ_AT_ALL(fh, place, found, 3, MPI_INTEGER,
     &    MPI_STATUS_IGNORE, error)
      do i = 1, 3
          if (values(i) .ne. found(i)) then
              call MPI_ABORT(MPI_COMM_WORLD, 2, error)
          end if
      end do
      call MPI_FILE_CLOSE(fh, error)
      call MPI_FILE_DELETE(path(1:1)//'nowhere', MPI_INFO_NULL, error)
      call MPI_ERROR_CLASS(error, class, i)
      if (class .ne. MPI_ERR_NO_SUCH_FILE) then
          call MPI_ABORT(MPI_COMM_WORLD, 3, error)
      end if
      call MPI_FINALIZE(error)
      end
