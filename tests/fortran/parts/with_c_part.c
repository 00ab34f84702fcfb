/* The part of with_c.f90 in C. */
#include <mpi.h>
#include <stdlib.h>

void from_c(int number, int key)
{
    MPI_Comm comm = MPI_Comm_fromint(number);
    int flag = 0, size = 0;
    void *value = NULL;
    MPI_Comm_size(comm, &size);
    MPI_Comm_get_attr(comm, key, &value, &flag);
    if (size < 1 || !flag || *(MPI_Aint *)value != 123456789012) abort();
    MPI_Comm_set_attr(comm, key, (void *)4711);
}
