% Run by session.m through MPI_Run: all ranks wait for each other.
MPI_Init;
comm = MPI_COMM_WORLD;
MPI_Recv(mod(MPI_Comm_rank(comm) + 1, MPI_Comm_size(comm)), 'never', comm);
