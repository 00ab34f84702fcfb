% A send of 100 MiB returns although nobody receives, and sends what it was given
% then, whatever the program does with its variable afterwards.
MPI_Init;
comm = MPI_COMM_WORLD;
rank = MPI_Comm_rank(comm);
ranks = MPI_Comm_size(comm);
count = 100 * 2^20 / 8;
% Everybody sends before anybody receives; with one rank it goes to itself.
data = zeros(count, 1) + rank;
data(end) = 42;
MPI_Send(mod(rank + 1, ranks), 1, comm, data);
data(:) = -1;
clear data
MPI_Send(mod(rank + 1, ranks), 2, comm, "sent");
previous = mod(rank - 1, ranks);
assert(MPI_Recv(previous, 2, comm), "sent");
data = MPI_Recv(previous, 1, comm);
assert(numel(data) == count && all(data(1:end-1) == previous) && data(end) == 42);
MPI_Finalize;
