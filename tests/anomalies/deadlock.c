/* Ranks that wait for each other for ever, or seem to:
 *
 *   deadlock WAY
 *
 * recv: each rank receives from the next one on a communicator of its own, and rank 0 has sent rank 1 what it does not receive.
 * barrier: rank 0 receives, and all others are in a barrier.
 * ssend: each rank sends to the next one, and nobody receives. probe: each rank probes.
 * test: rank 0 asks again and again whether it has received, and all others receive. iprobe: all probe again and again.
 * ended: rank 0 has ended, and all others wait for it.
 * spawn: all ranks wait for a process that they have spawned, which waits for rank 0.
 *
 * These do not: what the others wait for comes at last.
 * compute: rank 0 computes for a few seconds before it sends. overlap: it asks in between whether it has received.
 * elsewhere: the spawned process computes for a few seconds before it answers. */
#include <mpi.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

enum { TAG = 7, UNRECEIVED = 9, SECONDS = 4 };

static int value, rank, size;

static void compute(double seconds)
{
    double end = MPI_Wtime() + seconds;
    while (MPI_Wtime() < end) {
    }
}

static void moment(void)
{
    const struct timespec time = {0, 20000000};
    nanosleep(&time, NULL);
}

static void receive(int source, MPI_Comm communicator)
{
    MPI_Recv(&value, 1, MPI_INT, source, TAG, communicator, MPI_STATUS_IGNORE);
}

static void send_to_all(void)
{
    for (int peer = 1; peer < size; peer++) {
        MPI_Send(&value, 1, MPI_INT, peer, TAG, MPI_COMM_WORLD);
    }
}

/* Rank 0 does something for a few seconds and then sends to the others, which wait for that. */
static void late(const char *way)
{
    MPI_Request request;
    int flag;
    if (rank > 0) {
        receive(0, MPI_COMM_WORLD);
        return;
    }
    MPI_Irecv(&value, 1, MPI_INT, 1 % size, UNRECEIVED, MPI_COMM_WORLD, &request);
    double end = MPI_Wtime() + SECONDS;
    while (MPI_Wtime() < end) {
        if (strcmp(way, "compute") == 0) {
            compute(SECONDS);
        } else if (strcmp(way, "overlap") == 0) {
            compute(0.001);
            MPI_Test(&request, &flag, MPI_STATUS_IGNORE);
        }
    }
    send_to_all();
    MPI_Cancel(&request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
}

/* The parents wait for the process that they have spawned. */
static void spawn(char *program, char *way)
{
    char *arguments[] = {way, NULL};
    MPI_Comm child;
    MPI_Comm_spawn(program, arguments, 1, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &child, MPI_ERRCODES_IGNORE);
    if (rank == 0) {
        receive(0, child);
        send_to_all();
    } else {
        receive(0, MPI_COMM_WORLD);
    }
}

static void spawned(const char *way, MPI_Comm parent)
{
    if (strcmp(way, "spawn") == 0) {
        receive(0, parent);
    }
    compute(SECONDS);
    MPI_Send(&value, 1, MPI_INT, 0, TAG, parent);
}

int main(int argc, char **argv)
{
    char *way = argc > 1 ? argv[1] : "recv";
    MPI_Comm ring, parent;
    MPI_Request request;
    int flag = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Comm_get_parent(&parent);
    int next = (rank + 1) % size;
    if (parent != MPI_COMM_NULL) {
        spawned(way, parent);
    } else if (strcmp(way, "recv") == 0) {
        MPI_Comm_dup(MPI_COMM_WORLD, &ring);
        MPI_Comm_set_name(ring, "ring");
        if (rank == 0) {
            MPI_Send(&value, 1, MPI_INT, 1, UNRECEIVED, ring);
        }
        receive(next, ring);
    } else if (strcmp(way, "barrier") == 0) {
        if (rank == 0) {
            receive(MPI_ANY_SOURCE, MPI_COMM_WORLD);
        }
        MPI_Barrier(MPI_COMM_WORLD);
    } else if (strcmp(way, "ssend") == 0) {
        MPI_Ssend(&value, 1, MPI_INT, next, TAG, MPI_COMM_WORLD);
    } else if (strcmp(way, "probe") == 0) {
        MPI_Probe(next, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    } else if (strcmp(way, "test") == 0) {
        if (rank > 0) {
            receive(0, MPI_COMM_WORLD);
        }
        MPI_Irecv(&value, 1, MPI_INT, next, TAG, MPI_COMM_WORLD, &request);
        while (!flag) {
            MPI_Test(&request, &flag, MPI_STATUS_IGNORE);
        }
    } else if (strcmp(way, "iprobe") == 0) {
        while (!flag) {
            MPI_Iprobe(MPI_ANY_SOURCE, TAG, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
            moment();
        }
    } else if (strcmp(way, "ended") == 0) {
        if (rank > 0) {
            receive(0, MPI_COMM_WORLD);
        }
    } else if (strcmp(way, "spawn") == 0 || strcmp(way, "elsewhere") == 0) {
        spawn(argv[0], way);
    } else {
        late(way);
    }
    MPI_Finalize();
    return 0;
}
