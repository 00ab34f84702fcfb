% hello.m: every process says which one it is.
%
%   postrider run -n 4 octave examples/octave/hello.m
MPI_Init;
comm = MPI_COMM_WORLD;
printf("Hello from rank %d of %d\n", MPI_Comm_rank(comm), MPI_Comm_size(comm));
MPI_Finalize;
