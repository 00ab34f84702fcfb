/*
 * MPI, with the two calls that the paper's program uses.
 */
#include "transport.h"

#include <mpi.h>
#include <stdio.h>

void transport_fail(const char *what)
{
    perror(what);
    MPI_Abort(MPI_COMM_WORLD, 1);
}

int transport_start(struct processes *processes)
{
    int rank;
    MPI_Init(NULL, NULL);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &processes->all);
    return rank;
}

void transport_send(int to, const void *data, size_t bytes)
{
    MPI_Send(data, (int)bytes, MPI_BYTE, to, 0, MPI_COMM_WORLD);
}

void transport_receive(int from, void *data, size_t bytes)
{
    MPI_Recv(data, (int)bytes, MPI_BYTE, from, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

void transport_end(void)
{
    MPI_Finalize();
}
