% Run by session.m through MPI_Run: ranks that end without sending what others wait for.
MPI_Init;
comm = MPI_COMM_WORLD;
my_rank = MPI_Comm_rank(comm);
if my_rank == 0
  MPI_Recv('*', 'never', comm);
elseif my_rank == 1
  % What was sent before the end is received.
  MPI_Send(0, 'large', comm, rand(1000));
end
MPI_Finalize;
