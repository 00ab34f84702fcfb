% Messages of one tag arrive in the order in which they were sent, and none is lost.
MPI_Init;
comm = MPI_COMM_WORLD;
rank = MPI_Comm_rank(comm);
ranks = MPI_Comm_size(comm);
count = 300;
for k = 1:count
  % Small and large ones take different ways.
  MPI_Send(mod(rank + 1, ranks), 7, comm, k, k * ones(mod(k, 3) * 60));
end
previous = mod(rank - 1, ranks);
for k = 1:count
  if mod(k, 50) == 0
    [sources, tags] = MPI_Probe(previous, 7, comm);
    assert(all(sources == previous) && all(tags == 7));
  end
  [number, matrix] = MPI_Recv(previous, 7, comm);
  assert(number, k);
  assert(matrix, k * ones(mod(k, 3) * 60));
end
MPI_Finalize;
