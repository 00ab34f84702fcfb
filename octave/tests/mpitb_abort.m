% MPI_Abort ends all ranks.
postrider.use('mpitb');
MPI_Init;
[info, rank] = MPI_Comm_rank(MPI_COMM_WORLD);
[info, ranks] = MPI_Comm_size(MPI_COMM_WORLD);
if rank == ranks - 1
  MPI_Abort(MPI_COMM_WORLD, 3);
end
buf = 0;
MPI_Recv(buf, ranks - 1, 1, MPI_COMM_WORLD);
exit(0);
