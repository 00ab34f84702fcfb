! One program in C and Fortran: handles and attributes of one language in the other.
program with_c
  use mpi_f08
  implicit none
  interface
    subroutine from_c(comm, key) bind(C)
      integer, value :: comm, key
    end subroutine
  end interface
  integer :: key
  integer(kind=MPI_ADDRESS_KIND) :: value
  logical :: flag
  call MPI_Init()
  call MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, MPI_COMM_NULL_DELETE_FN, key, 0_MPI_ADDRESS_KIND)
  call MPI_Comm_set_attr(MPI_COMM_WORLD, key, 123456789012_MPI_ADDRESS_KIND)
  call from_c(MPI_COMM_WORLD%MPI_VAL, key)
  call MPI_Comm_get_attr(MPI_COMM_WORLD, key, value, flag)
  call check(flag .and. value == 4711, 'what C has set')
  call MPI_Comm_delete_attr(MPI_COMM_WORLD, key)
  call MPI_Finalize()
end program
