% MPI_Bcast brings the values of the source to everybody, small and large, the source itself too.
MPI_Init;
comm = MPI_COMM_WORLD;
rank = MPI_Comm_rank(comm);
ranks = MPI_Comm_size(comm);
for source = 0:ranks-1
  for n = [1 200]
    mine = {};
    if rank == source
      mine = {n * ones(n), {source, "text"}};
    end
    [matrix, list] = MPI_Bcast(source, 10 + source, comm, mine{:});
    assert(matrix, n * ones(n));
    assert(list, {source, "text"});
  end
end
values = every_value();
same = cell(size(values));
[same{:}] = MPI_Bcast(0, 9, comm, values{:});
assert(all(cellfun(@same_value, same, values)));
MPI_Send(rank, 1, comm, "after");
assert(MPI_Recv(rank, 1, comm), "after");
MPI_Finalize;
