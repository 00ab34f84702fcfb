% The last rank has an uncaught error while the others wait for it: the job must end.
MPI_Init;
comm = MPI_COMM_WORLD;
if MPI_Comm_rank(comm) == MPI_Comm_size(comm) - 1
  error("this error is part of the test");
end
MPI_Recv(MPI_Comm_size(comm) - 1, 1, comm);
MPI_Finalize;
