% A vector goes once round all ranks, each of which adds 1.
comm = mpi.world;
x = zeros(1, 3);
if comm.rank > 0
  x = comm.Recv(x, comm.rank - 1, 1);
end
x = x + 1;
if comm.rank < comm.size - 1
  comm.Send(x, comm.rank + 1, 1);
else
  disp(x);
end
