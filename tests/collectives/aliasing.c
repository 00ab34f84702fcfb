/* Send and receive buffers that are the same (MPI 5.0, sections 2.3 and 6.2): the blocking, the nonblocking and the persistent
 * calls say MPI_ERR_BUFFER, unless there is no data or the datatypes keep the data apart. */
#include "../check.h"

enum { BLOCK = 2 };

static MPI_Comm self = MPI_COMM_SELF, world = MPI_COMM_WORLD;
static MPI_Request request;
static Count *counts;
static Displacement *places, *bytes;
static MPI_Datatype *types;
static int *data;

/* At the root only, so on a communicator of this process alone. */
static void rooted(void)
{
    Count one[1] = {BLOCK};
    Displacement zero[1] = {0};
    FAILS(MPI_ERR_BUFFER, MPI_Gather(data, BLOCK, MPI_INT, data, BLOCK, MPI_INT, 0, self));
    FAILS(MPI_ERR_BUFFER, MPI_Gatherv(data, BLOCK, MPI_INT, data, one, zero, MPI_INT, 0, self));
    FAILS(MPI_ERR_BUFFER, MPI_Scatter(data, BLOCK, MPI_INT, data, BLOCK, MPI_INT, 0, self));
    FAILS(MPI_ERR_BUFFER, MPI_Scatterv(data, one, zero, MPI_INT, data, BLOCK, MPI_INT, 0, self));
    FAILS(MPI_ERR_BUFFER, MPI_Reduce(data, data, BLOCK, MPI_INT, MPI_SUM, 0, self));
    FAILS(MPI_ERR_BUFFER, MPI_Igather(data, BLOCK, MPI_INT, data, BLOCK, MPI_INT, 0, self, &request));
    FAILS(MPI_ERR_BUFFER, MPI_Iscatter(data, BLOCK, MPI_INT, data, BLOCK, MPI_INT, 0, self, &request));
    FAILS(MPI_ERR_BUFFER, MPI_Ireduce(data, data, BLOCK, MPI_INT, MPI_SUM, 0, self, &request));
    FAILS(MPI_ERR_BUFFER, MPI_Reduce_local(data, data, BLOCK, MPI_INT, MPI_SUM));
    OK(MPI_Gather(data, 0, MPI_INT, data, 0, MPI_INT, 0, self));
}

static void all(void)
{
    int *own = data + rank * BLOCK;
    FAILS(MPI_ERR_BUFFER, MPI_Allgather(own, BLOCK, MPI_INT, data, BLOCK, MPI_INT, world));
    FAILS(MPI_ERR_BUFFER, MPI_Allgather(data, BLOCK, MPI_INT, data, BLOCK, MPI_INT, world));
    FAILS(MPI_ERR_BUFFER, MPI_Allgatherv(own, BLOCK, MPI_INT, data, counts, places, MPI_INT, world));
    FAILS(MPI_ERR_BUFFER, MPI_Alltoall(data, BLOCK, MPI_INT, data, BLOCK, MPI_INT, world));
    FAILS(MPI_ERR_BUFFER, MPI_Alltoallv(data, counts, places, MPI_INT, data, counts, places, MPI_INT, world));
    FAILS(MPI_ERR_BUFFER, MPI_Alltoallw(data, counts, bytes, types, data, counts, bytes, types, world));
    FAILS(MPI_ERR_BUFFER, MPI_Iallgather(own, BLOCK, MPI_INT, data, BLOCK, MPI_INT, world, &request));
    FAILS(MPI_ERR_BUFFER, MPI_Ialltoall(data, BLOCK, MPI_INT, data, BLOCK, MPI_INT, world, &request));
    FAILS(MPI_ERR_BUFFER, MPI_Ialltoallv(data, counts, places, MPI_INT, data, counts, places, MPI_INT, world, &request));
    FAILS(MPI_ERR_BUFFER, MPI_Ialltoallw(data, counts, bytes, types, data, counts, bytes, types, world, &request));
    FAILS(MPI_ERR_BUFFER, MPI_Allreduce(data, data, BLOCK, MPI_INT, MPI_SUM, world));
    FAILS(MPI_ERR_BUFFER, MPI_Reduce_scatter_block(data, data, BLOCK, MPI_INT, MPI_SUM, world));
    FAILS(MPI_ERR_BUFFER, MPI_Reduce_scatter(data, data, counts, MPI_INT, MPI_SUM, world));
    FAILS(MPI_ERR_BUFFER, MPI_Scan(data, data, BLOCK, MPI_INT, MPI_SUM, world));
    FAILS(MPI_ERR_BUFFER, MPI_Alltoall_init(data, BLOCK, MPI_INT, data, BLOCK, MPI_INT, world, MPI_INFO_NULL, &request));
    OK(MPI_Alltoall(data, 0, MPI_INT, data, 0, MPI_INT, world));
    OK(MPI_Allgather(data, 0, MPI_INT, data, 0, MPI_INT, world));
}

/* One address, but integers at even places go, and those at odd places come. */
static void apart(void)
{
    MPI_Datatype even, odd, odd_whole;
    Count place[1] = {1};
    int mixed[2 * 64];
    OK(MPI_Type_create_resized(MPI_INT, 0, 2 * sizeof(int), &even));
    OK(MPI_Type_create_indexed_block(1, 1, place, MPI_INT, &odd));
    OK(MPI_Type_create_resized(odd, 0, 2 * sizeof(int), &odd_whole));
    OK(MPI_Type_commit(&even));
    OK(MPI_Type_commit(&odd_whole));
    for (int i = 0; i < 2 * size; i++) {
        mixed[i] = i % 2 == 0 ? 100 * rank + i / 2 : -1;
    }
    OK(MPI_Alltoall(mixed, 1, even, mixed, 1, odd_whole, world));
    for (int i = 0; i < size; i++) {
        CHECK_EQ(mixed[2 * i], 100 * rank + i);
        CHECK_EQ(mixed[2 * i + 1], 100 * i + rank);
    }
    OK(MPI_Type_free(&even));
    OK(MPI_Type_free(&odd));
    OK(MPI_Type_free(&odd_whole));
}

int main(int argc, char **argv)
{
    check_begin(&argc, &argv);
    data = allocate(sizeof *data * BLOCK * (size_t)size);
    counts = allocate(sizeof *counts * (size_t)size);
    places = allocate(sizeof *places * (size_t)size);
    bytes = allocate(sizeof *bytes * (size_t)size);
    types = allocate(sizeof *types * (size_t)size);
    for (int i = 0; i < size; i++) {
        counts[i] = BLOCK;
        places[i] = i * BLOCK;
        bytes[i] = i * BLOCK * (int)sizeof(int);
        types[i] = MPI_INT;
    }
    rooted();
    all();
    apart();
    free(data);
    free(counts);
    free(places);
    free(bytes);
    free(types);
    return check_end();
}
