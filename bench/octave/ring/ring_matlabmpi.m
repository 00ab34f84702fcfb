% A vector goes once round all ranks, each of which adds 1.
MPI_Init;
comm = MPI_COMM_WORLD;
rank = MPI_Comm_rank(comm);
x = zeros(1, 3);
if rank > 0
  x = MPI_Recv(rank - 1, 1, comm);
end
x = x + 1;
if rank < MPI_Comm_size(comm) - 1
  MPI_Send(rank + 1, 1, comm, x);
else
  disp(x);
end
MPI_Finalize;
