% Run by session.m through MPI_Run: the last rank fails, and the others wait for it.
MPI_Init;
comm = MPI_COMM_WORLD;
last = MPI_Comm_size(comm) - 1;
if MPI_Comm_rank(comm) == last
  MPI_Recv(0, 'before', comm);
  error('this rank cannot go on');
end
if MPI_Comm_rank(comm) == 0
  MPI_Send(last, 'before', comm, 1);
  MPI_Send(last, 'nobody takes this', comm, rand(1000));
end
MPI_Recv(last, 'never', comm);
