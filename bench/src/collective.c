/*
 * Time of one collective operation on all ranks: --operation barrier, bcast, allreduce or alltoall.
 *
 * The root of bcast moves on by one rank with every iteration. With a fixed root the calls would follow each other like
 * a pipeline and the time would be that of the root's sends alone; so every call depends on the one before it, and no
 * barrier between them has to be subtracted. The size of allreduce is that of the vector (doubles, sum), the size of
 * alltoall that of the block for each rank.
 */
#include "measure.h"

#include <string.h>

struct collective {
    int rank, ranks, bytes;
    void *out, *in;
};

static void barrier(void *context, int iterations)
{
    (void)context;
    for (int i = 0; i < iterations; i++)
        MPI_Barrier(MPI_COMM_WORLD);
}

static void bcast(void *context, int iterations)
{
    struct collective *c = context;
    for (int i = 0; i < iterations; i++)
        MPI_Bcast(c->out, c->bytes, MPI_BYTE, i % c->ranks, MPI_COMM_WORLD);
}

static void allreduce(void *context, int iterations)
{
    struct collective *c = context;
    for (int i = 0; i < iterations; i++)
        MPI_Allreduce(c->out, c->in, c->bytes / 8, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
}

static void alltoall(void *context, int iterations)
{
    struct collective *c = context;
    for (int i = 0; i < iterations; i++)
        MPI_Alltoall(c->out, c->bytes, MPI_BYTE, c->in, c->bytes, MPI_BYTE, MPI_COMM_WORLD);
}

static const struct {
    const char *name;
    measure_body body;
    int has_sizes, blocks_per_rank;
} operations[] = {
    {"barrier", barrier, 0, 0},
    {"bcast", bcast, 1, 0},
    {"allreduce", allreduce, 1, 0},
    {"alltoall", alltoall, 1, 1},
};

static void run(struct settings *settings, int which, struct collective *c)
{
    size_t largest;
    if (!operations[which].has_sizes) {
        settings->size_count = 1;
        settings->sizes[0] = 0;
    }
    largest = measure_largest(settings);
    if (operations[which].blocks_per_rank)
        largest *= (size_t)c->ranks;
    c->out = measure_buffer(largest);
    c->in = measure_buffer(largest);
    for (int i = 0; i < settings->size_count; i++) {
        c->bytes = (int)settings->sizes[i];
        struct measured m = measure(settings, operations[which].body, c);
        if (c->rank == 0)
            record_print(operations[which].name, c->ranks, settings->sizes[i], m, 1e6, "us");
    }
}

int main(int argc, char **argv)
{
    struct settings settings;
    struct collective c;
    int which = -1;

    MPI_Init(&argc, &argv);
    measure_arguments(&settings, argc, argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &c.rank);
    MPI_Comm_size(MPI_COMM_WORLD, &c.ranks);
    for (int i = 0; i < (int)(sizeof operations / sizeof operations[0]); i++)
        if (strcmp(operations[i].name, settings.operation) == 0)
            which = i;
    if (which < 0)
        measure_fail("--operation is barrier, bcast, allreduce or alltoall, not", settings.operation);
    run(&settings, which, &c);
    MPI_Finalize();
    return 0;
}
