% MPI_Probe lists all waiting messages, never waits and never shows a payload.
MPI_Init;
comm = MPI_COMM_WORLD;
rank = MPI_Comm_rank(comm);
ranks = MPI_Comm_size(comm);
assert(isempty(MPI_Probe('*', 99, comm)));
for tag = [5 3 5]
  MPI_Send(0, tag, comm, rank, rand(100));
end
if rank == 0
  expected = 3 * ranks;
  sources = [];
  while numel(sources) < expected
    [sources, tags] = MPI_Probe('*', '*', comm);
  end
  assert(numel(sources), expected);
  for source = 0:ranks-1
    assert(tags(sources == source), [5; 3; 5]);
    [one, its] = MPI_Probe(source, 5, comm);
    assert(one, [source; source]);
    assert(its, [5; 5]);
  end
  assert(isempty(MPI_Probe('*', 4, comm)));
  for k = 1:expected
    [source, matrix] = MPI_Recv('*', '*', comm);
    assert(size(matrix), [100 100]);
  end
  assert(isempty(MPI_Probe(MPI_ANY_SOURCE, MPI_ANY_TAG, comm)));
end
MPI_Send(rank, 8, comm, "x");
assert(MPI_Recv(MPI_ANY_SOURCE, MPI_ANY_TAG, comm), "x");
MPI_Finalize;
