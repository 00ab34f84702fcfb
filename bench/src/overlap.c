/*
 * How much of the time of a nonblocking operation is hidden behind computation, in per cent, and what is not, in microseconds.
 *
 * As in the benchmarks of the Ohio State University and of Intel: first the operation with its wait is timed, then the same with as much
 * work in between, and what the second takes longer than the work is set against the first. The work is a number of steps that was
 * timed before, not a time: so a thread of the library that takes the core from the program counts. --operation all, or names of the
 * table below, separated by commas.
 *
 * isend and irecv have the other side in a blocking call; with both, and in collective operations, all ranks compute, so that with a core for each
 * rank somebody's work has to wait for the copies. The size is that of the message, of the vector (floats, sum) of iallreduce, and of
 * the block for each rank of ialltoall.
 */
#include "measure.h"
#include "work.h"

#include <stdio.h>

struct overlap {
    int rank, partner, bytes;
    char *out, *in;
    void (*start)(struct overlap *o, MPI_Request requests[2]);
    /* Whether this rank computes; the other one blocks. */
    int computes;
    long steps;
};

static void isend(struct overlap *o, MPI_Request requests[2])
{
    if (o->computes)
        MPI_Isend(o->out, o->bytes, MPI_BYTE, o->partner, 1, MPI_COMM_WORLD, requests);
    else
        MPI_Recv(o->in, o->bytes, MPI_BYTE, o->partner, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static void irecv(struct overlap *o, MPI_Request requests[2])
{
    if (o->computes)
        MPI_Irecv(o->in, o->bytes, MPI_BYTE, o->partner, 1, MPI_COMM_WORLD, requests);
    else
        MPI_Send(o->out, o->bytes, MPI_BYTE, o->partner, 1, MPI_COMM_WORLD);
}

static void both(struct overlap *o, MPI_Request requests[2])
{
    MPI_Irecv(o->in, o->bytes, MPI_BYTE, o->partner, 1, MPI_COMM_WORLD, requests);
    MPI_Isend(o->out, o->bytes, MPI_BYTE, o->partner, 1, MPI_COMM_WORLD, requests + 1);
}

static void ibcast(struct overlap *o, MPI_Request requests[2])
{
    MPI_Ibcast(o->out, o->bytes, MPI_BYTE, 0, MPI_COMM_WORLD, requests);
}

static void iallreduce(struct overlap *o, MPI_Request requests[2])
{
    MPI_Iallreduce(o->out, o->in, o->bytes / 4, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD, requests);
}

static void ialltoall(struct overlap *o, MPI_Request requests[2])
{
    MPI_Ialltoall(o->out, o->bytes, MPI_BYTE, o->in, o->bytes, MPI_BYTE, MPI_COMM_WORLD, requests);
}

static const struct {
    const char *name;
    void (*start)(struct overlap *o, MPI_Request requests[2]);
    /* Only the first rank of a pair computes. */
    int one_sided;
} operations[] = {
    {"isend", isend, 1},
    {"irecv", irecv, 1},
    {"both", both, 0},
    {"ibcast", ibcast, 0},
    {"iallreduce", iallreduce, 0},
    {"ialltoall", ialltoall, 0},
};

static void body(void *context, int iterations)
{
    struct overlap *o = context;
    for (int i = 0; i < iterations; i++) {
        MPI_Request requests[2] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};
        /* Before anybody starts, the other side is there, as in a program whose ranks do the same work. */
        MPI_Barrier(MPI_COMM_WORLD);
        o->start(o, requests);
        if (o->computes)
            work(o->steps);
        MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    }
}

static void barriers(void *context, int iterations)
{
    (void)context;
    for (int i = 0; i < iterations; i++)
        MPI_Barrier(MPI_COMM_WORLD);
}

int main(int argc, char **argv)
{
    struct settings settings;
    struct overlap o;
    int ranks, most;

    MPI_Init(&argc, &argv);
    measure_arguments(&settings, argc, argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &o.rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    if (ranks % 2 != 0)
        measure_fail("overlap needs an even number of ranks", "start it with -n 2, 4, 8, …");
    o.partner = o.rank ^ 1;
    o.out = measure_buffer(measure_largest(&settings) * (size_t)ranks);
    o.in = measure_buffer(measure_largest(&settings) * (size_t)ranks);
    double step_s = work_step_s();
    most = (int)(sizeof operations / sizeof *operations);
    for (int k = 0; k < most; k++) {
        char figure[40];
        if (!measure_is_chosen(&settings, operations[k].name))
            continue;
        o.start = operations[k].start;
        o.computes = !operations[k].one_sided || o.rank % 2 == 0;
        for (int i = 0; i < settings.size_count; i++) {
            o.bytes = (int)settings.sizes[i];
            o.steps = 0;
            double alone_s = measure(&settings, body, &o).best_s;
            double barrier_s = measure(&settings, barriers, &o).best_s;
            o.steps = (long)((alone_s - barrier_s) / step_s) + 1;
            struct measured m = measure(&settings, body, &o);
            double work_s = (double)o.steps * step_s, operation_s = alone_s - barrier_s;
            snprintf(figure, sizeof figure, "overlap-%s", operations[k].name);
            double shown_s = m.best_s - barrier_s - work_s;
            shown_s = shown_s < 0.0 ? 0.0 : shown_s;
            double hidden = 1.0 - shown_s / operation_s;
            m.median_s = m.best_s = m.worst_s = hidden < 0.0 ? 0.0 : hidden;
            if (o.rank == 0)
                record_print(figure, ranks, settings.sizes[i], m, 100.0, "%");
            snprintf(figure, sizeof figure, "not-hidden-%s", operations[k].name);
            m.median_s = m.best_s = m.worst_s = shown_s;
            if (o.rank == 0)
                record_print(figure, ranks, settings.sizes[i], m, 1e6, "us");
        }
    }
    MPI_Finalize();
    return 0;
}
