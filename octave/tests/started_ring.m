% Run by session.m through MPI_Run: a ring, a broadcast, large messages.
MPI_Init;
comm = MPI_COMM_WORLD;
ranks = MPI_Comm_size(comm);
my_rank = MPI_Comm_rank(comm);
MPI_Send(mod(my_rank + 1, ranks), 'ring', comm, my_rank, rand(300));
[from, matrix] = MPI_Recv(mod(my_rank - 1, ranks), 'ring', comm);
assert(from, mod(my_rank - 1, ranks));
assert(size(matrix), [300 300]);
everywhere = MPI_Bcast(0, 2, comm, magic(4));
assert(everywhere, magic(4));
if my_rank == 0
  seen = zeros(1, 0);
  while numel(seen) < ranks - 1
    [who, tags] = MPI_Probe('*', 3, comm);
    for source = who'
      seen(end + 1) = MPI_Recv(source, 3, comm);
    end
  end
  assert(sort(seen), 1:ranks-1);
else
  MPI_Send(0, 3, comm, my_rank);
end
disp('SUCCESS');
MPI_Finalize;
if my_rank ~= MatMPI_Host_rank(comm)
  disp('a rank in the background has gone on after MPI_Finalize');
  exit
end
