/*
 * One-way time of a message: half a round trip, as is customary.
 *
 * The ranks form pairs (rank i with rank i + half), and all pairs exchange messages at the same time. With two ranks
 * this is the ordinary ping-pong; with more ranks than cores it shows what waiting costs, since a rank that spins takes
 * the core from the rank that it waits for. The time is that of the slowest pair.
 */
#include "measure.h"

struct ping_pong {
    int first, partner;
    int bytes;
    void *out, *in;
};

static void ping_pong(void *context, int iterations)
{
    struct ping_pong *p = context;
    for (int i = 0; i < iterations; i++) {
        if (p->first) {
            MPI_Send(p->out, p->bytes, MPI_BYTE, p->partner, 1, MPI_COMM_WORLD);
            MPI_Recv(p->in, p->bytes, MPI_BYTE, p->partner, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        } else {
            MPI_Recv(p->in, p->bytes, MPI_BYTE, p->partner, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            MPI_Send(p->out, p->bytes, MPI_BYTE, p->partner, 1, MPI_COMM_WORLD);
        }
    }
}

int main(int argc, char **argv)
{
    struct settings settings;
    struct ping_pong p;
    int rank, ranks;

    MPI_Init(&argc, &argv);
    measure_arguments(&settings, argc, argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    if (ranks % 2 != 0)
        measure_fail("latency needs an even number of ranks", "start it with -n 2, 4, 8, …");
    p.first = rank < ranks / 2;
    p.partner = p.first ? rank + ranks / 2 : rank - ranks / 2;
    p.out = measure_buffer(measure_largest(&settings));
    p.in = measure_buffer(measure_largest(&settings));
    for (int i = 0; i < settings.size_count; i++) {
        p.bytes = (int)settings.sizes[i];
        struct measured m = measure(&settings, ping_pong, &p);
        if (rank == 0)
            record_print("latency", ranks, settings.sizes[i], m, 0.5e6, "us");
    }
    MPI_Finalize();
    return 0;
}
