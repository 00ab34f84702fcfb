/*
 * Time of one operation on memory of another rank until it is done there: --operation put, get or fetch-and-op.
 *
 * Rank 0 works on the last rank's part of an allocated window, under one shared lock, with a flush after each operation; the
 * other ranks wait in the barrier that follows. The size of fetch-and-op is that of one integer.
 */
#include "measure.h"

#include <string.h>

struct one_sided {
    int rank, target, bytes;
    void *local;
    MPI_Win window;
};

static void put(void *context, int iterations)
{
    struct one_sided *o = context;
    for (int i = 0; i < iterations && o->rank == 0; i++) {
        MPI_Put(o->local, o->bytes, MPI_BYTE, o->target, 0, o->bytes, MPI_BYTE, o->window);
        MPI_Win_flush(o->target, o->window);
    }
}

static void get(void *context, int iterations)
{
    struct one_sided *o = context;
    for (int i = 0; i < iterations && o->rank == 0; i++) {
        MPI_Get(o->local, o->bytes, MPI_BYTE, o->target, 0, o->bytes, MPI_BYTE, o->window);
        MPI_Win_flush(o->target, o->window);
    }
}

static void fetch_and_op(void *context, int iterations)
{
    struct one_sided *o = context;
    long one = 1, before;
    for (int i = 0; i < iterations && o->rank == 0; i++) {
        MPI_Fetch_and_op(&one, &before, MPI_LONG, o->target, 0, MPI_SUM, o->window);
        MPI_Win_flush(o->target, o->window);
    }
}

static const struct {
    const char *name;
    measure_body body;
    int has_sizes;
} operations[] = {
    {"put", put, 1},
    {"get", get, 1},
    {"fetch-and-op", fetch_and_op, 0},
};

static void run(struct settings *settings, int which, struct one_sided *o, int ranks)
{
    void *memory;
    size_t largest;
    if (!operations[which].has_sizes) {
        settings->size_count = 1;
        settings->sizes[0] = sizeof(long);
    }
    largest = measure_largest(settings);
    o->local = measure_buffer(largest);
    MPI_Win_allocate((MPI_Aint)largest, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &o->window);
    memset(memory, 0, largest);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_lock_all(0, o->window);
    for (int i = 0; i < settings->size_count; i++) {
        o->bytes = (int)settings->sizes[i];
        struct measured m = measure(settings, operations[which].body, o);
        if (o->rank == 0)
            record_print(operations[which].name, ranks, settings->sizes[i], m, 1e6, "us");
    }
    MPI_Win_unlock_all(o->window);
    MPI_Win_free(&o->window);
}

int main(int argc, char **argv)
{
    struct settings settings;
    struct one_sided o;
    int which = -1, ranks;

    MPI_Init(&argc, &argv);
    measure_arguments(&settings, argc, argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &o.rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    o.target = ranks - 1;
    for (int i = 0; i < (int)(sizeof operations / sizeof operations[0]); i++)
        if (strcmp(operations[i].name, settings.operation) == 0)
            which = i;
    if (which < 0)
        measure_fail("--operation is put, get or fetch-and-op, not", settings.operation);
    run(&settings, which, &o, ranks);
    MPI_Finalize();
    return 0;
}
