/* hello.c: every process says which one it is.
 *
 *   postrider cc examples/c/hello.c -o hello && postrider run -n 4 ./hello
 */
#include <mpi.h>
#include <stdio.h>

int main(int argc, char **argv)
{
    int rank, ranks;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    printf("Hello from rank %d of %d\n", rank, ranks);
    MPI_Finalize();
    return 0;
}
