/*
 * Time of collective operations on all ranks: --operation all, or names of the table below, separated by commas.
 *
 * Every call depends on the one before it, so that no barrier between them has to be subtracted: with a fixed root the
 * calls would follow each other like a pipeline, and the time would be that of the root's sends alone. So the root moves on by
 * one rank with every iteration, and scan and exscan run in turn on the world and on its ranks in reverse order.
 *
 * The size is that of the message of bcast, of the vector (doubles, sum) of reduce, allreduce, scan and exscan, and of the block of
 * one rank elsewhere: of what it contributes to gather and allgather, gets from scatter and reduce_scatter, and exchanges
 * with each other rank in alltoall. The varying forms have equal blocks. Neighbours are those on a ring.
 */
#include "measure.h"

struct collective {
    int rank, ranks, bytes;
    char *out, *in;
    int *counts, *starts;
    MPI_Datatype *types;
    MPI_Comm ring, reverse;
};

static int doubles(const struct collective *c)
{
    return c->bytes / 8;
}

static void barrier(struct collective *c, int root)
{
    (void)c;
    (void)root;
    MPI_Barrier(MPI_COMM_WORLD);
}

static void ibarrier(struct collective *c, int root)
{
    MPI_Request request;
    (void)c;
    (void)root;
    MPI_Ibarrier(MPI_COMM_WORLD, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
}

static void bcast(struct collective *c, int root)
{
    MPI_Bcast(c->out, c->bytes, MPI_BYTE, root, MPI_COMM_WORLD);
}

static void gather(struct collective *c, int root)
{
    MPI_Gather(c->out, c->bytes, MPI_BYTE, c->in, c->bytes, MPI_BYTE, root, MPI_COMM_WORLD);
}

static void gatherv(struct collective *c, int root)
{
    MPI_Gatherv(c->out, c->bytes, MPI_BYTE, c->in, c->counts, c->starts, MPI_BYTE, root, MPI_COMM_WORLD);
}

static void scatter(struct collective *c, int root)
{
    MPI_Scatter(c->out, c->bytes, MPI_BYTE, c->in, c->bytes, MPI_BYTE, root, MPI_COMM_WORLD);
}

static void scatterv(struct collective *c, int root)
{
    MPI_Scatterv(c->out, c->counts, c->starts, MPI_BYTE, c->in, c->bytes, MPI_BYTE, root, MPI_COMM_WORLD);
}

static void allgather(struct collective *c, int root)
{
    (void)root;
    MPI_Allgather(c->out, c->bytes, MPI_BYTE, c->in, c->bytes, MPI_BYTE, MPI_COMM_WORLD);
}

static void allgatherv(struct collective *c, int root)
{
    (void)root;
    MPI_Allgatherv(c->out, c->bytes, MPI_BYTE, c->in, c->counts, c->starts, MPI_BYTE, MPI_COMM_WORLD);
}

static void alltoall(struct collective *c, int root)
{
    (void)root;
    MPI_Alltoall(c->out, c->bytes, MPI_BYTE, c->in, c->bytes, MPI_BYTE, MPI_COMM_WORLD);
}

static void alltoallv(struct collective *c, int root)
{
    (void)root;
    MPI_Alltoallv(c->out, c->counts, c->starts, MPI_BYTE, c->in, c->counts, c->starts, MPI_BYTE, MPI_COMM_WORLD);
}

static void alltoallw(struct collective *c, int root)
{
    (void)root;
    MPI_Alltoallw(c->out, c->counts, c->starts, c->types, c->in, c->counts, c->starts, c->types, MPI_COMM_WORLD);
}

static void reduce(struct collective *c, int root)
{
    MPI_Reduce(c->out, c->in, doubles(c), MPI_DOUBLE, MPI_SUM, root, MPI_COMM_WORLD);
}

static void allreduce(struct collective *c, int root)
{
    (void)root;
    MPI_Allreduce(c->out, c->in, doubles(c), MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
}

static void iallreduce(struct collective *c, int root)
{
    MPI_Request request;
    (void)root;
    MPI_Iallreduce(c->out, c->in, doubles(c), MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
}

static void reduce_scatter_block(struct collective *c, int root)
{
    (void)root;
    MPI_Reduce_scatter_block(c->out, c->in, doubles(c), MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
}

/* The second half of the counts is in doubles. */
static void reduce_scatter(struct collective *c, int root)
{
    (void)root;
    MPI_Reduce_scatter(c->out, c->in, c->counts + c->ranks, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
}

static void scan(struct collective *c, int root)
{
    MPI_Scan(c->out, c->in, doubles(c), MPI_DOUBLE, MPI_SUM, root % 2 == 0 ? MPI_COMM_WORLD : c->reverse);
}

static void exscan(struct collective *c, int root)
{
    MPI_Exscan(c->out, c->in, doubles(c), MPI_DOUBLE, MPI_SUM, root % 2 == 0 ? MPI_COMM_WORLD : c->reverse);
}

static void neighbor_allgather(struct collective *c, int root)
{
    (void)root;
    MPI_Neighbor_allgather(c->out, c->bytes, MPI_BYTE, c->in, c->bytes, MPI_BYTE, c->ring);
}

static void neighbor_alltoall(struct collective *c, int root)
{
    (void)root;
    MPI_Neighbor_alltoall(c->out, c->bytes, MPI_BYTE, c->in, c->bytes, MPI_BYTE, c->ring);
}

static const struct operation {
    const char *name;
    void (*call)(struct collective *c, int root);
    int has_sizes;
} operations[] = {
    {"barrier", barrier, 0},
    {"ibarrier", ibarrier, 0},
    {"bcast", bcast, 1},
    {"gather", gather, 1},
    {"gatherv", gatherv, 1},
    {"scatter", scatter, 1},
    {"scatterv", scatterv, 1},
    {"allgather", allgather, 1},
    {"allgatherv", allgatherv, 1},
    {"alltoall", alltoall, 1},
    {"alltoallv", alltoallv, 1},
    {"alltoallw", alltoallw, 1},
    {"reduce", reduce, 1},
    {"allreduce", allreduce, 1},
    {"iallreduce", iallreduce, 1},
    {"reduce_scatter_block", reduce_scatter_block, 1},
    {"reduce_scatter", reduce_scatter, 1},
    {"scan", scan, 1},
    {"exscan", exscan, 1},
    {"neighbor_allgather", neighbor_allgather, 1},
    {"neighbor_alltoall", neighbor_alltoall, 1},
};

enum { OPERATIONS = sizeof operations / sizeof operations[0] };

struct calls {
    const struct operation *operation;
    struct collective *collective;
};

static void repeat(void *context, int iterations)
{
    struct calls *calls = context;
    struct collective *c = calls->collective;
    for (int i = 0; i < iterations; i++)
        calls->operation->call(c, i % c->ranks);
}

static void set_bytes(struct collective *c, size_t bytes)
{
    c->bytes = (int)bytes;
    for (int i = 0; i < c->ranks; i++) {
        c->counts[i] = c->bytes;
        c->starts[i] = i * c->bytes;
        c->counts[c->ranks + i] = doubles(c);
    }
}

static void run(const struct settings *settings, const struct operation *operation, struct collective *c)
{
    struct calls calls = {operation, c};
    int count = operation->has_sizes ? settings->size_count : 1;
    for (int i = 0; i < count; i++) {
        size_t bytes = operation->has_sizes ? settings->sizes[i] : 0;
        struct measured m;
        set_bytes(c, bytes);
        m = measure(settings, repeat, &calls);
        if (c->rank == 0)
            record_print(operation->name, c->ranks, bytes, m, 1e6, "us");
    }
}

static void prepare(struct collective *c, const struct settings *settings)
{
    int periodic = 1, ranks;
    size_t room;
    MPI_Comm_rank(MPI_COMM_WORLD, &c->rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    c->ranks = ranks;
    /* Two neighbours on a ring need two blocks, however few the ranks. */
    room = measure_largest(settings) * (size_t)(ranks > 2 ? ranks : 2);
    c->out = measure_buffer(room);
    c->in = measure_buffer(room);
    c->counts = measure_buffer(2 * (size_t)ranks * sizeof *c->counts);
    c->starts = measure_buffer((size_t)ranks * sizeof *c->starts);
    c->types = measure_buffer((size_t)ranks * sizeof *c->types);
    for (int i = 0; i < ranks; i++)
        c->types[i] = MPI_BYTE;
    MPI_Cart_create(MPI_COMM_WORLD, 1, &ranks, &periodic, 0, &c->ring);
    MPI_Comm_split(MPI_COMM_WORLD, 0, -c->rank, &c->reverse);
}

int main(int argc, char **argv)
{
    struct settings settings;
    struct collective c;
    int found = 0;

    MPI_Init(&argc, &argv);
    measure_arguments(&settings, argc, argv);
    prepare(&c, &settings);
    for (int i = 0; i < OPERATIONS; i++) {
        if (measure_is_chosen(&settings, operations[i].name)) {
            run(&settings, &operations[i], &c);
            found = 1;
        }
    }
    if (!found)
        measure_fail("--operation takes all, or names of operations such as bcast,allreduce, not", settings.operation);
    MPI_Comm_free(&c.ring);
    MPI_Comm_free(&c.reverse);
    MPI_Finalize();
    return 0;
}
