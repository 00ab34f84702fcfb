/* ring.c: a number goes once around all processes, and each adds its rank.
 *
 *   postrider cc examples/c/ring.c -o ring && postrider run -n 4 ./ring
 */
#include <mpi.h>
#include <stdio.h>

int main(int argc, char **argv)
{
    enum { TAG = 1 };
    int rank, ranks, next, previous, total = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    next = (rank + 1) % ranks;
    previous = (rank + ranks - 1) % ranks;

    if (rank == 0) {
        /* Nonblocking, since a ring of one process sends to itself. */
        int start = 0;
        MPI_Request request;
        MPI_Isend(&start, 1, MPI_INT, next, TAG, MPI_COMM_WORLD, &request);
        MPI_Recv(&total, 1, MPI_INT, previous, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        printf("The sum of the ranks 0 to %d is %d\n", ranks - 1, total);
    } else {
        MPI_Recv(&total, 1, MPI_INT, previous, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        total += rank;
        MPI_Send(&total, 1, MPI_INT, next, TAG, MPI_COMM_WORLD);
    }
    MPI_Finalize();
    return 0;
}
