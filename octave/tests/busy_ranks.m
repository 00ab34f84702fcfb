% The last rank fails while the others compute in the folder that FOLDER names: they are ended
% by a signal, and save nothing there.
cd(getenv("FOLDER"));
MPI_Init;
comm = MPI_COMM_WORLD;
last = MPI_Comm_size(comm) - 1;
if MPI_Comm_rank(comm) == last
  for rank = 0:last-1
    MPI_Recv(rank, 1, comm);
  end
  error("this error is part of the test");
end
x = rand(10);
MPI_Send(last, 1, comm, x);
while true
  x = 1 - x;
end
