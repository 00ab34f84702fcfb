/* Neighbourhood collectives (MPI 5.0, section 8.6) on grids, graphs and distributed graphs: every block comes from the right
 * neighbour, also where two processes are neighbours several times, and nothing is written where there is none. */
#include "../check.h"

enum { MANY = 32, BLOCK = 3, LONG_BLOCK = 20000, GAP = -7 };

/* The neighbours of a process: who they are, and what they call the edge to it. */
struct neighborhood {
    int in, out;
    int sources[MANY], destinations[MANY];
    /* For each source the number of the block that it sends here. */
    int numbers[MANY];
    int block;
};

static int me;

/* Element j of the block that a process sends to its neighbour of this number; the same for all in a gather. */
static int element(int process, int number, int j)
{
    return process * 1000003 + number * 1009 + j;
}

/* Checks a received block, which has the elements of `source` or nothing. */
static void check_block(const int *block, int count, int source, int number)
{
    int wrong = 0;
    for (int j = 0; j < count; j++) {
        wrong += block[j] != (source == MPI_PROC_NULL ? GAP : element(source, number, j));
    }
    CHECK_EQ(wrong, 0);
}

static int *blank(size_t count)
{
    int *memory = allocate(count * sizeof(int));
    for (size_t i = 0; i < count; i++) {
        memory[i] = GAP;
    }
    return memory;
}

static int *outgoing(const struct neighborhood *all)
{
    int *memory = blank((size_t)(all->out * all->block));
    for (int i = 0; i < all->out; i++) {
        for (int j = 0; j < all->block; j++) {
            memory[i * all->block + j] = element(me, i, j);
        }
    }
    return memory;
}

static void gather(MPI_Comm comm, const struct neighborhood *all)
{
    const int block = all->block;
    int *send = blank((size_t)block), *receive = blank((size_t)(MANY * (block + 1)));
    Count counts[MANY];
    Displacement displacements[MANY];
    for (int j = 0; j < block; j++) {
        send[j] = element(me, 0, j);
    }
    OK(MPI_Neighbor_allgather(send, block, MPI_INT, receive, block, MPI_INT, comm));
    for (int i = 0; i < all->in; i++) {
        check_block(receive + i * block, block, all->sources[i], 0);
    }
    CHECK_EQ(receive[all->in * block], GAP);
    free(receive);
    receive = blank((size_t)(MANY * (block + 1)));
    for (int i = 0; i < all->in; i++) {
        counts[i] = block;
        displacements[i] = (all->in - 1 - i) * (block + 1);
    }
    OK(MPI_Neighbor_allgatherv(send, block, MPI_INT, receive, counts, displacements, MPI_INT, comm));
    for (int i = 0; i < all->in; i++) {
        check_block(receive + displacements[i], block, all->sources[i], 0);
        CHECK_EQ(receive[displacements[i] + block], GAP);
    }
    free(receive);
    free(send);
}

static void exchange(MPI_Comm comm, const struct neighborhood *all)
{
    const int block = all->block;
    int *send = outgoing(all), *receive = blank((size_t)(MANY * (block + 1)));
    OK(MPI_Neighbor_alltoall(send, block, MPI_INT, receive, block, MPI_INT, comm));
    for (int i = 0; i < all->in; i++) {
        check_block(receive + i * block, block, all->sources[i], all->numbers[i]);
    }
    CHECK_EQ(receive[all->in * block], GAP);
    free(receive);
    free(send);
}

/* The length of a block with this number at the sender: every third one is short. */
static int length(const struct neighborhood *all, int number)
{
    return number % 3 == 2 ? 1 : all->block - number % 3;
}

static void exchange_varying(MPI_Comm comm, const struct neighborhood *all)
{
    const int block = all->block;
    int *send = outgoing(all), *receive = blank((size_t)(MANY * (block + 1)));
    Count out_counts[MANY], in_counts[MANY];
    Displacement out_places[MANY], in_places[MANY];
    MPI_Aint out_bytes[MANY], in_bytes[MANY];
    MPI_Datatype out_types[MANY], in_types[MANY];
    for (int i = 0; i < all->out; i++) {
        out_counts[i] = length(all, i);
        out_places[i] = i * block;
        out_bytes[i] = (MPI_Aint)sizeof(int) * i * block;
        out_types[i] = MPI_INT;
    }
    for (int i = 0; i < all->in; i++) {
        in_counts[i] = length(all, all->numbers[i]);
        in_places[i] = (all->in - 1 - i) * (block + 1);
        in_bytes[i] = (MPI_Aint)sizeof(int) * i * (block + 1);
        in_types[i] = i % 2 ? MPI_INT : MPI_INT32_T;
    }
    OK(MPI_Neighbor_alltoallv(send, out_counts, out_places, MPI_INT, receive, in_counts, in_places, MPI_INT, comm));
    for (int i = 0; i < all->in; i++) {
        check_block(receive + in_places[i], (int)in_counts[i], all->sources[i], all->numbers[i]);
        CHECK_EQ(receive[in_places[i] + block], GAP);
    }
    free(receive);
    receive = blank((size_t)(MANY * (block + 1)));
    OK(MPI_Neighbor_alltoallw(send, out_counts, out_bytes, out_types, receive, in_counts, in_bytes, in_types, comm));
    for (int i = 0; i < all->in; i++) {
        check_block(receive + i * (block + 1), (int)in_counts[i], all->sources[i], all->numbers[i]);
        CHECK_EQ(receive[i * (block + 1) + block], GAP);
    }
    free(receive);
    free(send);
}

/* Blocks that lie with gaps at both ends. */
static void exchange_spread(MPI_Comm comm, const struct neighborhood *all)
{
    const int block = all->block;
    int *send = outgoing(all), *spread = blank((size_t)(2 * all->out * block));
    int *receive = blank((size_t)(3 * (all->in + 1) * block));
    MPI_Datatype second, third;
    for (int i = 0; i < all->out * block; i++) {
        spread[2 * i] = send[i];
    }
    OK(MPI_Type_create_resized(MPI_INT, 0, 2 * sizeof(int), &second));
    OK(MPI_Type_commit(&second));
    OK(MPI_Type_create_resized(MPI_INT, 0, 3 * sizeof(int), &third));
    OK(MPI_Type_commit(&third));
    OK(MPI_Neighbor_alltoall(spread, block, second, receive, block, third, comm));
    for (int i = 0; i < all->in; i++) {
        int *dense = blank((size_t)block);
        for (int j = 0; j < block; j++) {
            dense[j] = receive[3 * (i * block + j)];
            CHECK_EQ(receive[3 * (i * block + j) + 1], GAP);
        }
        check_block(dense, block, all->sources[i], all->numbers[i]);
        free(dense);
    }
    OK(MPI_Type_free(&second));
    OK(MPI_Type_free(&third));
    free(receive);
    free(spread);
    free(send);
}

static void check_all(MPI_Comm comm, struct neighborhood *all)
{
    static const int blocks[] = {BLOCK, LONG_BLOCK};
    OK(MPI_Comm_rank(comm, &me));
    for (size_t i = 0; i < sizeof blocks / sizeof *blocks; i++) {
        all->block = blocks[i];
        gather(comm, all);
        exchange(comm, all);
        exchange_varying(comm, all);
        exchange_spread(comm, all);
    }
}

/* What is sent in one direction of a grid comes from the other one. */
static void grid(int ndims, const int *dims, const int *periods)
{
    struct neighborhood all = {.in = 2 * ndims, .out = 2 * ndims};
    MPI_Comm comm;
    OK(MPI_Cart_create(MPI_COMM_WORLD, ndims, dims, periods, 0, &comm));
    if (comm == MPI_COMM_NULL) {
        return;
    }
    for (int i = 0; i < ndims; i++) {
        OK(MPI_Cart_shift(comm, i, 1, &all.sources[2 * i], &all.sources[2 * i + 1]));
        all.numbers[2 * i] = 2 * i + 1;
        all.numbers[2 * i + 1] = 2 * i;
    }
    check_all(comm, &all);
    OK(MPI_Comm_free(&comm));
}

static void grids(void)
{
    for (int kind = 0; kind < 4; kind++) {
        int dims[3] = {0, 0, 0}, periods[3] = {kind & 1, kind >> 1, 1};
        OK(MPI_Dims_create(size, 2, dims));
        grid(2, dims, periods);
        grid(1, &size, periods);
        dims[0] = dims[1] = dims[2] = 0;
        OK(MPI_Dims_create(size, 3, dims));
        grid(3, dims, periods);
        /* A periodic dimension of two: both neighbours are the same process. */
        if (size >= 2) {
            grid(2, (int[]){2, 1}, (int[]){1, kind & 1});
        }
        grid(0, NULL, NULL);
    }
}

/* All processes with all, and each with itself. */
static void graph(void)
{
    struct neighborhood all = {.in = size, .out = size};
    int index[MANY], edges[MANY * MANY];
    MPI_Comm comm;
    for (int i = 0; i < size; i++) {
        index[i] = (i + 1) * size;
        for (int j = 0; j < size; j++) {
            edges[i * size + j] = j;
        }
        all.sources[i] = i;
        all.numbers[i] = rank;
    }
    OK(MPI_Graph_create(MPI_COMM_WORLD, size, index, edges, 0, &comm));
    check_all(comm, &all);
    OK(MPI_Comm_free(&comm));
}

/* Two edges to the process above, one to this one, and two more to the process above. */
static void distributed(int adjacent)
{
    const int above = (rank + 1) % size, below = (rank + size - 1) % size;
    const int to[] = {above, above, rank, above, above}, from[] = {below, below, rank, below, below};
    struct neighborhood all = {.in = 5, .out = 5};
    MPI_Comm comm;
    if (adjacent) {
        OK(MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 5, from, MPI_UNWEIGHTED, 5, to, MPI_UNWEIGHTED, MPI_INFO_NULL,
                                          1, &comm));
    } else {
        OK(MPI_Dist_graph_create(MPI_COMM_WORLD, 1, &rank, (int[]){5}, to, MPI_UNWEIGHTED, MPI_INFO_NULL, 1, &comm));
    }
    OK(MPI_Dist_graph_neighbors(comm, 5, all.sources, MPI_UNWEIGHTED, 5, all.destinations, MPI_UNWEIGHTED));
    OK(MPI_Comm_rank(comm, &me));
    /* The n-th edge from a process is the n-th to it. */
    for (int i = 0, loops = 0, others = 0; i < 5; i++) {
        static const int numbers[] = {0, 1, 3, 4};
        if (size == 1) {
            all.numbers[i] = i;
        } else {
            all.numbers[i] = all.sources[i] == me ? 2 + loops++ : numbers[others++];
        }
    }
    check_all(comm, &all);
    OK(MPI_Comm_free(&comm));
}

/* Nobody sends anything, or one to all others, twice. */
static void lonely(void)
{
    struct neighborhood none = {.in = 0, .out = 0}, star = {.in = rank ? 2 : 0, .out = rank ? 0 : 2 * (size - 1)};
    int others[MANY];
    MPI_Comm comm;
    OK(MPI_Dist_graph_create(MPI_COMM_WORLD, 0, NULL, NULL, NULL, MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &comm));
    check_all(comm, &none);
    OK(MPI_Comm_free(&comm));
    for (int i = 0; i < 2 * (size - 1); i++) {
        others[i] = i / 2 + 1;
    }
    for (int i = 0; i < 2; i++) {
        star.sources[i] = 0;
        star.numbers[i] = 2 * (rank - 1) + i;
    }
    OK(MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, star.in, star.sources, MPI_UNWEIGHTED, star.out, others, MPI_UNWEIGHTED,
                                      MPI_INFO_NULL, 0, &comm));
    check_all(comm, &star);
    OK(MPI_Comm_free(&comm));
}

static void errors(void)
{
    int periodic = 1, one = 1, in[2], out[2] = {0, 0};
    MPI_Comm comm;
    FAILS(MPI_ERR_TOPOLOGY, MPI_Neighbor_allgather(out, 1, MPI_INT, in, 1, MPI_INT, MPI_COMM_WORLD));
    FAILS(MPI_ERR_TOPOLOGY, MPI_Neighbor_alltoall(out, 1, MPI_INT, in, 1, MPI_INT, MPI_COMM_WORLD));
    OK(MPI_Cart_create(MPI_COMM_SELF, 1, &one, &periodic, 0, &comm));
    FAILS(MPI_ERR_COUNT, MPI_Neighbor_allgather(out, -1, MPI_INT, in, 1, MPI_INT, comm));
    FAILS(MPI_ERR_TYPE, MPI_Neighbor_alltoall(out, 1, MPI_DATATYPE_NULL, in, 1, MPI_INT, comm));
    FAILS(MPI_ERR_BUFFER, MPI_Neighbor_alltoall(MPI_IN_PLACE, 1, MPI_INT, in, 1, MPI_INT, comm));
    FAILS(MPI_ERR_BUFFER, MPI_Neighbor_allgather(out, 1, MPI_INT, NULL, 1, MPI_INT, comm));
    OK(MPI_Comm_free(&comm));
}

int main(int argc, char **argv)
{
    check_begin(&argc, &argv);
    if (2 * size <= MANY) {
        grids();
        graph();
        distributed(0);
        distributed(1);
        lonely();
    }
    errors();
    return check_end();
}
