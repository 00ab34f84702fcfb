% A program may end without MPI_Finalize, and clear everything.
MPI_Init;
MPI_Init;
clear all
comm = MPI_COMM_WORLD;
MPI_Send(mod(MPI_Comm_rank(comm) + 1, MPI_Comm_size(comm)), 1, comm, rand(300));
clear -all
comm = MPI_COMM_WORLD;
assert(size(MPI_Recv(mod(MPI_Comm_rank(comm) - 1, MPI_Comm_size(comm)), 1, comm)), [300 300]);
