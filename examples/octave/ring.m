% ring.m: a number goes once around all processes, and each adds its rank.
%
%   postrider run -n 4 octave examples/octave/ring.m
MPI_Init;
comm = MPI_COMM_WORLD;
rank = MPI_Comm_rank(comm);
ranks = MPI_Comm_size(comm);
tag = 1;
next = mod(rank + 1, ranks);
previous = mod(rank - 1, ranks);

if rank == 0
  MPI_Send(next, tag, comm, 0);
  total = MPI_Recv(previous, tag, comm);
  printf("The sum of the ranks 0 to %d is %d\n", ranks - 1, total);
else
  total = MPI_Recv(previous, tag, comm);
  MPI_Send(next, tag, comm, total + rank);
end
MPI_Finalize;
