/*
 * The smallest MPI program: what the start-up figure starts. Its time is taken from outside, from the launcher's start
 * to its end. Rank 0 prints which library it runs on, so that the runner can tell when the library path was wrong.
 */
#include <mpi.h>
#include <stdio.h>

int main(int argc, char **argv)
{
    char version[MPI_MAX_LIBRARY_VERSION_STRING];
    int rank, ranks, length;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    MPI_Get_library_version(version, &length);
    for (int i = 0; i < length; i++)
        if (version[i] < ' ' || version[i] == '"' || version[i] == '\\')
            version[i] = ' ';
    if (rank == 0)
        printf("{\"library\":\"%.100s\",\"ranks\":%d}\n", version, ranks);
    MPI_Finalize();
    return 0;
}
