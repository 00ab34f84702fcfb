% A vector goes once round all ranks, each of which adds 1.
postrider.use('mpitb');
info = MPI_Init;
[info, rank] = MPI_Comm_rank(MPI_COMM_WORLD);
[info, ranks] = MPI_Comm_size(MPI_COMM_WORLD);
x = zeros(1, 3);
if rank > 0
  [info, stat] = MPI_Recv(x, rank - 1, 1, MPI_COMM_WORLD);
end
x = x + 1;
if rank < ranks - 1
  info = MPI_Send(x, rank + 1, 1, MPI_COMM_WORLD);
else
  disp(x);
end
info = MPI_Finalize;
