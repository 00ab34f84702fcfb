/* A vector goes once round all ranks, each of which adds 1. */
#include <mpi.h>
#include <stdio.h>

int main(int argc, char **argv)
{
    double x[3] = {0, 0, 0};
    int rank, ranks;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    if (rank > 0)
        MPI_Recv(x, 3, MPI_DOUBLE, rank - 1, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    for (int i = 0; i < 3; i++)
        x[i] += 1;
    if (rank < ranks - 1)
        MPI_Send(x, 3, MPI_DOUBLE, rank + 1, 1, MPI_COMM_WORLD);
    else
        printf("%g %g %g\n", x[0], x[1], x[2]);
    MPI_Finalize();
    return 0;
}
