/* The nonblocking and the persistent form of every collective (MPI 5.0, sections 6.12, 6.13, 8.7 and 8.8): each several times with
 * other data, completed by wait, test and waitall; many at the same time; beside messages; on communicators that are freed meanwhile. */
#include "../check.h"

enum { COUNT = 5, TURNS = 3 };
enum { NONBLOCKING, PERSISTENT, FORMS };

static int form, turn, root;
static MPI_Request request;
/* A block for each process, and where it is: block i begins at element i * (COUNT + 1). */
static int *out, *in;
static Count *counts;
static Displacement *places, *byte_places;
static MPI_Datatype *types;

static int value(int from, int to, int i)
{
    return from * 1000003 + to * 1009 + i * 7 + turn * 31;
}

static void fill_out(int stride)
{
    for (int to = 0; to < size; to++) {
        for (int i = 0; i < COUNT; i++) {
            out[to * stride + i] = value(rank, to, i);
        }
    }
    memset(in, 0xff, (size_t)(size * (COUNT + 1)) * sizeof *in);
}

/* Blocks came from each process that were meant for `to`. */
static void check_in(int to, int stride)
{
    int wrong = 0;
    for (int from = 0; from < size; from++) {
        for (int i = 0; i < COUNT; i++) {
            wrong += in[from * stride + i] != value(from, to, i);
        }
    }
    CHECK_EQ(wrong, 0);
}

static void check_block(int from, int to)
{
    for (int i = 0; i < COUNT; i++) {
        CHECK_EQ(in[i], value(from, to, i));
    }
}

/* The sum over the processes from 0 to last of what each has for `to`. */
static int sum(int last, int to, int i)
{
    int total = 0;
    for (int from = 0; from <= last; from++) {
        total += value(from, to, i);
    }
    return total;
}

static void check_sums(int last, int to, int times)
{
    for (int i = 0; i < COUNT * times; i++) {
        CHECK_EQ(in[i], sum(last, to + i / COUNT, i % COUNT));
    }
}

static void complete(void)
{
    int flag = 0;
    if (turn == 0) {
        OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    } else if (turn == 1) {
        while (!flag) {
            OK(MPI_Test(&request, &flag, MPI_STATUS_IGNORE));
        }
    } else {
        MPI_Request both[2] = {MPI_REQUEST_NULL, request};
        OK(MPI_Waitall(2, both, MPI_STATUSES_IGNORE));
        request = both[1];
    }
    CHECK((request == MPI_REQUEST_NULL) == (form == NONBLOCKING));
}

/* Does `fill`, the operation and `check` for each turn. */
#define TURN(nonblocking, persistent, fill, check, ...)                \
    do {                                                               \
        turn = 0;                                                      \
        if (form == PERSISTENT) {                                      \
            OK(persistent(__VA_ARGS__, MPI_INFO_NULL, &request));      \
        }                                                              \
        for (turn = 0; turn < TURNS; turn++) {                         \
            fill;                                                      \
            if (form == PERSISTENT) {                                  \
                OK(MPI_Start(&request));                               \
            } else {                                                   \
                OK(nonblocking(__VA_ARGS__, &request));                \
            }                                                          \
            complete();                                                \
            check;                                                     \
        }                                                              \
        if (form == PERSISTENT) {                                      \
            OK(MPI_Request_free(&request));                            \
        }                                                              \
        CHECK(request == MPI_REQUEST_NULL);                            \
    } while (0)

static void fill_root(void)
{
    for (int i = 0; i < COUNT; i++) {
        in[i] = rank == root ? value(root, 0, i) : -1;
    }
}

static void rooted(MPI_Comm comm)
{
    int gap = COUNT + 1;
    TURN(MPI_Ibcast, MPI_Bcast_init, fill_root(), check_block(root, 0), in, COUNT, MPI_INT, root, comm);
    TURN(MPI_Igather, MPI_Gather_init, fill_out(COUNT), if (rank == root) check_in(0, COUNT), out, COUNT, MPI_INT, in,
         COUNT, MPI_INT, root, comm);
    TURN(MPI_Igatherv, MPI_Gatherv_init, fill_out(COUNT), if (rank == root) check_in(0, gap), out, COUNT, MPI_INT, in,
         counts, places, MPI_INT, root, comm);
    TURN(MPI_Iscatter, MPI_Scatter_init, fill_out(COUNT), check_block(root, rank), out, COUNT, MPI_INT, in, COUNT,
         MPI_INT, root, comm);
    TURN(MPI_Iscatterv, MPI_Scatterv_init, fill_out(gap), check_block(root, rank), out, counts, places, MPI_INT, in,
         COUNT, MPI_INT, root, comm);
    TURN(MPI_Ireduce, MPI_Reduce_init, fill_out(COUNT), if (rank == root) check_sums(size - 1, 0, 1), out, in, COUNT,
         MPI_INT, MPI_SUM, root, comm);
}

static void all_to_all(MPI_Comm comm)
{
    int gap = COUNT + 1;
    TURN(MPI_Iallgather, MPI_Allgather_init, fill_out(COUNT), check_in(0, COUNT), out, COUNT, MPI_INT, in, COUNT,
         MPI_INT, comm);
    TURN(MPI_Iallgatherv, MPI_Allgatherv_init, fill_out(COUNT), check_in(0, gap), out, COUNT, MPI_INT, in, counts,
         places, MPI_INT, comm);
    TURN(MPI_Ialltoall, MPI_Alltoall_init, fill_out(COUNT), check_in(rank, COUNT), out, COUNT, MPI_INT, in, COUNT,
         MPI_INT, comm);
    TURN(MPI_Ialltoallv, MPI_Alltoallv_init, fill_out(gap), check_in(rank, gap), out, counts, places, MPI_INT, in,
         counts, places, MPI_INT, comm);
    TURN(MPI_Ialltoallw, MPI_Alltoallw_init, fill_out(gap), check_in(rank, gap), out, counts, byte_places, types, in,
         counts, byte_places, types, comm);
}

static void fill_in_place(void)
{
    fill_out(COUNT);
    memcpy(in, out, COUNT * sizeof *in);
}

static void reductions(MPI_Comm comm)
{
    Count *each = counts;
    TURN(MPI_Iallreduce, MPI_Allreduce_init, fill_out(COUNT), check_sums(size - 1, 0, 1), out, in, COUNT, MPI_INT,
         MPI_SUM, comm);
    TURN(MPI_Iallreduce, MPI_Allreduce_init, fill_in_place(), check_sums(size - 1, 0, 1), MPI_IN_PLACE, in, COUNT,
         MPI_INT, MPI_SUM, comm);
    TURN(MPI_Ireduce_scatter_block, MPI_Reduce_scatter_block_init, fill_out(COUNT), check_sums(size - 1, rank, 1), out,
         in, COUNT, MPI_INT, MPI_SUM, comm);
    TURN(MPI_Ireduce_scatter, MPI_Reduce_scatter_init, fill_out(COUNT), check_sums(size - 1, rank, 1), out, in, each,
         MPI_INT, MPI_SUM, comm);
    TURN(MPI_Iscan, MPI_Scan_init, fill_out(COUNT), check_sums(rank, 0, 1), out, in, COUNT, MPI_INT, MPI_SUM, comm);
    TURN(MPI_Iexscan, MPI_Exscan_init, fill_out(COUNT), if (rank > 0) check_sums(rank - 1, 0, 1), out, in, COUNT,
         MPI_INT, MPI_SUM, comm);
}

/* Barriers, with a message that is sent before each and received after it. */
static void barriers(MPI_Comm comm)
{
    turn = 0;
    for (int round = 0; round < TURNS; round++) {
        int last = -1;
        if (form == PERSISTENT && round == 0) {
            OK(MPI_Barrier_init(comm, MPI_INFO_NULL, &request));
        }
        if (rank == size - 1 && size > 1) {
            OK(MPI_Send(&round, 1, MPI_INT, 0, 11, comm));
        }
        if (form == PERSISTENT) {
            OK(MPI_Start(&request));
        } else {
            OK(MPI_Ibarrier(comm, &request));
        }
        complete();
        if (rank == 0 && size > 1) {
            OK(MPI_Recv(&last, 1, MPI_INT, size - 1, 11, comm, MPI_STATUS_IGNORE));
            CHECK_EQ(last, round);
        }
    }
    if (form == PERSISTENT) {
        OK(MPI_Request_free(&request));
    }
}

/* Two neighbours in a ring: what is sent to the left comes from the right. */
static void check_neighbors(int stride, int everybody)
{
    int left = (rank + size - 1) % size, right = (rank + 1) % size, wrong = 0;
    for (int i = 0; i < COUNT; i++) {
        wrong += in[i] != value(left, everybody ? 0 : 1, i);
        wrong += in[stride + i] != value(right, 0, i);
    }
    CHECK_EQ(wrong, 0);
}

static void fill_neighbors(int stride)
{
    for (int side = 0; side < 2; side++) {
        for (int i = 0; i < COUNT; i++) {
            out[side * stride + i] = value(rank, side, i);
        }
    }
    memset(in, 0xff, (size_t)(2 * (COUNT + 1)) * sizeof *in);
}

static void neighbors(void)
{
    int around = 1, gap = COUNT + 1;
    MPI_Comm ring;
    MPI_Aint byte_places_of_two[2] = {0, (MPI_Aint)((size_t)gap * sizeof(int))};
    OK(MPI_Cart_create(MPI_COMM_WORLD, 1, &size, &around, 0, &ring));
    TURN(MPI_Ineighbor_allgather, MPI_Neighbor_allgather_init, fill_neighbors(COUNT), check_neighbors(COUNT, 1), out,
         COUNT, MPI_INT, in, COUNT, MPI_INT, ring);
    TURN(MPI_Ineighbor_allgatherv, MPI_Neighbor_allgatherv_init, fill_neighbors(COUNT), check_neighbors(gap, 1), out,
         COUNT, MPI_INT, in, counts, places, MPI_INT, ring);
    TURN(MPI_Ineighbor_alltoall, MPI_Neighbor_alltoall_init, fill_neighbors(COUNT), check_neighbors(COUNT, 0), out,
         COUNT, MPI_INT, in, COUNT, MPI_INT, ring);
    TURN(MPI_Ineighbor_alltoallv, MPI_Neighbor_alltoallv_init, fill_neighbors(gap), check_neighbors(gap, 0), out, counts,
         places, MPI_INT, in, counts, places, MPI_INT, ring);
    TURN(MPI_Ineighbor_alltoallw, MPI_Neighbor_alltoallw_init, fill_neighbors(gap), check_neighbors(gap, 0), out, counts,
         byte_places_of_two, types, in, counts, byte_places_of_two, types, ring);
    OK(MPI_Comm_free(&ring));
}

/* Many operations at the same time, completed in another order, while messages go around. */
static void many(void)
{
    enum { MANY = 20 };
    MPI_Request requests[MANY];
    int values[MANY], sums[MANY], token = rank, got, right = (rank + 1) % size, left = (rank + size - 1) % size;
    for (int i = 0; i < MANY; i++) {
        values[i] = rank * MANY + i;
        if (i % 3 == 0) {
            sums[i] = rank == i % size ? i : -1;
            OK(MPI_Ibcast(&sums[i], 1, MPI_INT, i % size, MPI_COMM_WORLD, &requests[i]));
        } else {
            OK(MPI_Iallreduce(&values[i], &sums[i], 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &requests[i]));
        }
        OK(MPI_Sendrecv(&token, 1, MPI_INT, right, 5, &got, 1, MPI_INT, left, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
        CHECK_EQ(got, left);
    }
    for (int i = MANY - 1; i >= MANY / 2; i--) {
        OK(MPI_Wait(&requests[i], MPI_STATUS_IGNORE));
    }
    OK(MPI_Barrier(MPI_COMM_WORLD));
    OK(MPI_Waitall(MANY, requests, MPI_STATUSES_IGNORE));
    for (int i = 0; i < MANY; i++) {
        CHECK_EQ(sums[i], i % 3 == 0 ? i : MANY * size * (size - 1) / 2 + size * i);
    }
}

static void add(void *from, void *into, Count *length, MPI_Datatype *type)
{
    Extent lower, extent;
    OK(MPI_Type_get_extent(*type, &lower, &extent));
    CHECK_EQ(extent, sizeof(int));
    for (Count i = 0; i < *length; i++) {
        ((int *)into)[i] += ((int *)from)[i];
    }
}

/* A function of the program calls MPI, in operations that are completed by other calls. */
static void user_operation(void)
{
    MPI_Op op;
    MPI_Request requests[2];
    int mine[2] = {rank, 1}, sums[2], prefix[2];
    OK(MPI_Op_create(add, 1, &op));
    OK(MPI_Iallreduce(mine, sums, 2, MPI_INT, op, MPI_COMM_WORLD, &requests[0]));
    OK(MPI_Iscan(mine, prefix, 2, MPI_INT, op, MPI_COMM_WORLD, &requests[1]));
    OK(MPI_Op_free(&op));
    OK(MPI_Barrier(MPI_COMM_WORLD));
    OK(MPI_Waitall(2, requests, MPI_STATUSES_IGNORE));
    CHECK_EQ(sums[0], size * (size - 1) / 2);
    CHECK_EQ(sums[1], size);
    CHECK_EQ(prefix[0], rank * (rank + 1) / 2);
    CHECK_EQ(prefix[1], rank + 1);
}

/* A communicator is freed, and a datatype, while operations use them. */
static void freed_meanwhile(void)
{
    MPI_Comm comm;
    MPI_Datatype pair;
    int *pairs = calloc((size_t)(2 * size), sizeof *pairs), mine[2] = {rank, -rank};
    OK(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
    OK(MPI_Type_contiguous(2, MPI_INT, &pair));
    OK(MPI_Type_commit(&pair));
    OK(MPI_Iallgather(mine, 1, pair, pairs, 1, pair, comm, &request));
    OK(MPI_Type_free(&pair));
    OK(MPI_Comm_free(&comm));
    OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    for (int from = 0; from < size; from++) {
        CHECK_EQ(pairs[2 * from], from);
        CHECK_EQ(pairs[2 * from + 1], -from);
    }
    free(pairs);
}

/* Even and odd ranks, with a communicator between them. */
static void between_groups(void)
{
    MPI_Comm half, between;
    int parity = rank % 2, mine = rank, total = -1, others = 0, remote;
    if (size < 2) {
        return;
    }
    OK(MPI_Comm_split(MPI_COMM_WORLD, parity, rank, &half));
    OK(MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, 1 - parity, 3, &between));
    OK(MPI_Comm_remote_size(between, &remote));
    for (int other = 1 - parity; other < size; other += 2) {
        others += other;
    }
    OK(MPI_Iallreduce(&mine, &total, 1, MPI_INT, MPI_SUM, between, &request));
    OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    CHECK_EQ(total, others);
    OK(MPI_Ibarrier(between, &request));
    OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    total = rank == 0 ? 77 : -1;
    OK(MPI_Ibcast(&total, 1, MPI_INT, parity == 1 ? 0 : rank == 0 ? MPI_ROOT : MPI_PROC_NULL, between, &request));
    OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    CHECK_EQ(total, parity == 1 || rank == 0 ? 77 : -1);
    CHECK(remote > 0);
    OK(MPI_Comm_free(&between));
    OK(MPI_Comm_free(&half));
}

/* Persistent ones are started together, and one is freed without ever having been started. */
static void started_together(void)
{
    MPI_Request requests[3];
    int mine = rank + 1, total = 0, first = 0, flag = 0;
    OK(MPI_Allreduce_init(&mine, &total, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, MPI_INFO_NULL, &requests[0]));
    OK(MPI_Bcast_init(&first, 1, MPI_INT, 0, MPI_COMM_WORLD, MPI_INFO_NULL, &requests[1]));
    OK(MPI_Barrier_init(MPI_COMM_WORLD, MPI_INFO_NULL, &requests[2]));
    OK(MPI_Test(&requests[2], &flag, MPI_STATUS_IGNORE));
    CHECK(flag && requests[2] != MPI_REQUEST_NULL);
    for (int round = 0; round < TURNS; round++) {
        first = rank == 0 ? round : -1;
        OK(MPI_Startall(2, requests));
        OK(MPI_Waitall(2, requests, MPI_STATUSES_IGNORE));
        CHECK_EQ(total, size * (size + 1) / 2);
        CHECK_EQ(first, round);
    }
    for (int i = 0; i < 3; i++) {
        OK(MPI_Request_free(&requests[i]));
    }
}

/* What is wrong with the arguments is told when the operation is started. */
static void wrong_arguments(void)
{
    int data = 0;
    FAILS(MPI_ERR_ROOT, MPI_Ibcast(&data, 1, MPI_INT, size, MPI_COMM_WORLD, &request));
    FAILS(MPI_ERR_COUNT, MPI_Ibcast(&data, -1, MPI_INT, 0, MPI_COMM_WORLD, &request));
    FAILS(MPI_ERR_ROOT, MPI_Bcast_init(&data, 1, MPI_INT, -7, MPI_COMM_WORLD, MPI_INFO_NULL, &request));
}

int main(int argc, char **argv)
{
    check_begin(&argc, &argv);
    root = size - 1;
    out = allocate((size_t)(size * (COUNT + 1) + 2 * (COUNT + 1)) * sizeof *out);
    in = allocate((size_t)(size * (COUNT + 1) + 2 * (COUNT + 1)) * sizeof *in);
    counts = allocate((size_t)(size + 2) * sizeof *counts);
    places = allocate((size_t)(size + 2) * sizeof *places);
    byte_places = allocate((size_t)(size + 2) * sizeof *byte_places);
    types = allocate((size_t)(size + 2) * sizeof *types);
    for (int i = 0; i < size + 2; i++) {
        counts[i] = COUNT;
        places[i] = i * (COUNT + 1);
        byte_places[i] = (Displacement)((size_t)(i * (COUNT + 1)) * sizeof(int));
        types[i] = MPI_INT;
    }
    for (form = NONBLOCKING; form < FORMS; form++) {
        barriers(MPI_COMM_WORLD);
        rooted(MPI_COMM_WORLD);
        all_to_all(MPI_COMM_WORLD);
        reductions(MPI_COMM_WORLD);
        neighbors();
    }
    form = NONBLOCKING;
    many();
    user_operation();
    freed_meanwhile();
    between_groups();
    started_together();
    wrong_arguments();
    free(out);
    free(in);
    free(counts);
    free(places);
    free(byte_places);
    free(types);
    return check_end();
}
