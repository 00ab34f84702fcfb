% MPI_Abort ends a job whose other ranks wait.
MPI_Init;
comm = MPI_COMM_WORLD;
if MPI_Comm_rank(comm) == MPI_Comm_size(comm) - 1
  MPI_Abort(comm, 3);
end
MPI_Recv(MPI_Comm_size(comm) - 1, 1, comm);
