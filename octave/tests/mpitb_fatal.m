% Without an error handler of the program, an error ends the job.
postrider.use('mpitb');
MPI_Init;
MPI_Send(1, 1000, 1, MPI_COMM_WORLD);
exit(0);
