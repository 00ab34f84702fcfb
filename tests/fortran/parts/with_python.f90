! What with_python.py calls.
subroutine total(number, value, sum, twin) bind(C)
  use, intrinsic :: iso_c_binding
  use mpi_f08
  implicit none
  integer(c_int), value :: number, value
  integer(c_int) :: sum, twin
  type(MPI_Comm) :: comm, other
  comm%MPI_VAL = number
  call MPI_Allreduce(value, sum, 1, MPI_INTEGER, MPI_SUM, comm)
  call MPI_Comm_dup(comm, other)
  call MPI_Comm_set_name(other, 'made in Fortran')
  twin = other%MPI_VAL
end subroutine

! The same by the module mpi, whose handles are these numbers.
subroutine size_of(datatype, bytes) bind(C)
  use, intrinsic :: iso_c_binding
  use mpi
  implicit none
  integer(c_int), value :: datatype
  integer(c_int) :: bytes
  integer :: code
  call MPI_Type_size(datatype, bytes, code)
end subroutine
