! Files by the module mpi_f08, whose functions of MPICH call C by its PMPI names.
program files
    use mpi_f08
    implicit none
    type(MPI_File) :: file
    type(MPI_Status) :: status
    integer :: rank, values(3), found(3), class
    integer :: code
    integer(MPI_OFFSET_KIND) :: place
    character(len=200) :: path

    call MPI_Init()
    call MPI_Comm_rank(MPI_COMM_WORLD, rank)
    call get_command_argument(1, path)
    call MPI_File_open(MPI_COMM_WORLD, trim(path), ior(MPI_MODE_CREATE, MPI_MODE_RDWR), MPI_INFO_NULL, file)
    values = [rank, 10 * rank, 100 * rank]
    place = 12 * rank
    call MPI_File_write_at_all(file, place, values, 3, MPI_INTEGER, status)
    call MPI_File_read_at_all(file, place, found, 3, MPI_INTEGER, MPI_STATUS_IGNORE)
    if (any(values /= found)) call MPI_Abort(MPI_COMM_WORLD, 2)
    call MPI_File_close(file)
    if (file /= MPI_FILE_NULL) call MPI_Abort(MPI_COMM_WORLD, 3)
    call MPI_File_open(MPI_COMM_WORLD, trim(path)//'.not', MPI_MODE_RDONLY, MPI_INFO_NULL, file, code)
    call MPI_Error_class(code, class)
    if (class /= MPI_ERR_NO_SUCH_FILE) call MPI_Abort(MPI_COMM_WORLD, 4)
    call MPI_Finalize()
end program
