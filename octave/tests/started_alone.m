% Run by session.m through MPI_Run in the background: there is no session among the ranks.
MPI_Init;
comm = MPI_COMM_WORLD;
assert(MatMPI_Host_rank(comm), -1);
total = MPI_Comm_rank(comm);
if total > 0
  MPI_Send(0, 1, comm, total);
else
  for k = 1:MPI_Comm_size(comm)-1
    total = total + MPI_Recv(k, 1, comm);
  end
  fprintf('the total is %d\n', total);
end
MPI_Finalize;
