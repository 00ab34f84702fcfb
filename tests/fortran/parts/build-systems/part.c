/* Its part in C. */
#include <mpi.h>
int size_in_c(int comm)
{
    int size = 0;
    MPI_Comm_size(MPI_Comm_fromint(comm), &size);
    return size;
}
