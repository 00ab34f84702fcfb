! A program in C and Fortran.
program both
  use mpi_f08
  implicit none
  interface
    integer function size_in_c(comm) bind(C)
      integer, value :: comm
    end function
  end interface
  integer :: ranks
  call MPI_Init()
  call MPI_Comm_size(MPI_COMM_WORLD, ranks)
  if (size_in_c(MPI_COMM_WORLD%MPI_VAL) /= ranks) error stop 1
  call MPI_Finalize()
end program
