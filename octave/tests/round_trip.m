% Every kind of value goes once around the ring, alone and all in one message.
MPI_Init;
comm = MPI_COMM_WORLD;
rank = MPI_Comm_rank(comm);
ranks = MPI_Comm_size(comm);
next = mod(rank + 1, ranks);
previous = mod(rank - 1, ranks);
values = every_value();
for k = 1:numel(values)
  MPI_Send(next, k, comm, values{k});
end
% Received backwards: order matters only between messages of one tag.
for k = numel(values):-1:1
  got = MPI_Recv(previous, k, comm);
  if ! same_value(got, values{k})
    error("value %d, a %s, came back changed", k, class(values{k}));
  end
end
MPI_Send(next, 0, comm, values{:});
got = cell(size(values));
[got{:}] = MPI_Recv(previous, 0, comm);
if ! all(cellfun(@same_value, got, values))
  error("the values changed in one message");
end
MPI_Send(next, 0, comm, 1, rand(200), 3);
first = MPI_Recv(previous, 0, comm);
MPI_Send(next, 0, comm, "after");
assert(first, 1);
assert(MPI_Recv(previous, 0, comm), "after");
MPI_Finalize;
