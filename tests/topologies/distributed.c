/* Distributed graphs (MPI 5.0, sections 8.5.4 and 8.5.5): given by the processes at both ends or by anybody, with and without
 * weights, with several edges between the same processes and with edges of a process to itself. Rank r of the graph has
 * the edges of node r, whether or not ranks were reordered. */
#include "../check.h"

enum { MANY = 64 };

static int weight(int source, int destination, int copy)
{
    return 100 * source + 10 * destination + copy;
}

/* How many edges lead from one node to another: some none, some several, and different in both directions. */
static int copies(int source, int destination)
{
    return (source + 2 * destination) % 3;
}

static int before(const void *left, const void *right)
{
    const int *a = left, *b = right;
    return a[0] != b[0] ? a[0] - b[0] : a[1] - b[1];
}

/* Checks the neighbours of this rank; their order only if it is known. */
static void check_side(int degree, const int *neighbors, const int *weights, int weighted, int incoming, int me, int ordered)
{
    int pairs[MANY][2], count = 0;
    for (int i = 0; i < degree; i++) {
        pairs[i][0] = neighbors[i];
        pairs[i][1] = weights[i];
    }
    if (!ordered) {
        qsort(pairs, (size_t)degree, sizeof *pairs, before);
    }
    for (int other = 0; other < size; other++) {
        const int source = incoming ? other : me, destination = incoming ? me : other;
        for (int copy = 0; copy < copies(source, destination); copy++, count++) {
            if (count < degree) {
                CHECK_EQ(pairs[count][0], other);
                CHECK_EQ(pairs[count][1], weighted ? weight(source, destination, copy) : -3);
            }
        }
    }
    CHECK_EQ(degree, count);
}

static void check_graph(MPI_Comm comm, int weighted, int ordered, int reorder)
{
    int in = -1, out = -1, flag = -1, me, ranks, sources[MANY], in_weights[MANY], destinations[MANY], out_weights[MANY];
    int again[MANY];
    OK(MPI_Comm_rank(comm, &me));
    OK(MPI_Comm_size(comm, &ranks));
    CHECK_EQ(ranks, size);
    CHECK(reorder || me == rank);
    OK(MPI_Dist_graph_neighbors_count(comm, &in, &out, &flag));
    CHECK_EQ(flag, weighted);
    for (int i = 0; i < MANY; i++) {
        sources[i] = destinations[i] = in_weights[i] = out_weights[i] = -3;
    }
    OK(MPI_Dist_graph_neighbors(comm, in, sources, in_weights, out, destinations, out_weights));
    check_side(in, sources, in_weights, weighted, 1, me, ordered);
    check_side(out, destinations, out_weights, weighted, 0, me, ordered);
    CHECK_EQ(sources[in], -3);
    CHECK_EQ(destinations[out], -3);
    if (!weighted) {
        OK(MPI_Dist_graph_neighbors(comm, in, again, MPI_UNWEIGHTED, out, again, MPI_UNWEIGHTED));
        CHECK(memcmp(again, destinations, sizeof(int) * (size_t)out) == 0);
    }
    if (in > 0) {
        again[0] = again[in - 1] = -4;
        OK(MPI_Dist_graph_neighbors(comm, in - 1, again, in_weights, 0, destinations, out_weights));
        CHECK(memcmp(again, sources, sizeof(int) * (size_t)(in - 1)) == 0);
        CHECK_EQ(again[in - 1], -4);
    }
}

static void adjacent(int weighted, int reorder)
{
    int in = 0, out = 0, sources[MANY], in_weights[MANY], destinations[MANY], out_weights[MANY];
    MPI_Comm comm;
    for (int other = 0; other < size; other++) {
        for (int copy = 0; copy < copies(other, rank); copy++, in++) {
            sources[in] = other;
            in_weights[in] = weight(other, rank, copy);
        }
        for (int copy = 0; copy < copies(rank, other); copy++, out++) {
            destinations[out] = other;
            out_weights[out] = weight(rank, other, copy);
        }
    }
    OK(MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, in, sources,
                                      !weighted ? MPI_UNWEIGHTED : in ? in_weights : MPI_WEIGHTS_EMPTY, out,
                                      destinations,
                                      !weighted ? MPI_UNWEIGHTED : out ? out_weights : MPI_WEIGHTS_EMPTY,
                                      MPI_INFO_NULL, reorder, &comm));
    check_graph(comm, weighted, 1, reorder);
    OK(MPI_Comm_free(&comm));
}

/* Each process gives the edges that begin at the nodes which its turn gives it; sources are named in pieces. */
static void general(int weighted, int reorder, int turn)
{
    int sources[MANY], degrees[MANY], destinations[MANY * 8], weights[MANY * 8], n = 0, edges = 0;
    MPI_Comm comm;
    for (int source = size - 1; source >= 0; source--) {
        for (int destination = 0; destination < size; destination++) {
            if ((source * turn + destination * (turn / 2)) % size != rank) {
                continue;
            }
            sources[n] = source;
            degrees[n] = copies(source, destination);
            for (int copy = 0; copy < degrees[n]; copy++, edges++) {
                destinations[edges] = destination;
                weights[edges] = weight(source, destination, copy);
            }
            n++;
        }
    }
    OK(MPI_Dist_graph_create(MPI_COMM_WORLD, n, sources, degrees, destinations,
                             !weighted ? MPI_UNWEIGHTED : edges ? weights : MPI_WEIGHTS_EMPTY, MPI_INFO_NULL, reorder,
                             &comm));
    check_graph(comm, weighted, 0, reorder);
    OK(MPI_Comm_free(&comm));
}

/* The order of neighbours is that of the arguments, whatever it is. */
static void order(void)
{
    int neighbors[MANY], found[MANY], again[MANY];
    MPI_Comm comm;
    for (int i = 0; i < size; i++) {
        neighbors[i] = (rank + size - i) % size;
    }
    OK(MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, size, neighbors, MPI_UNWEIGHTED, size, neighbors, MPI_UNWEIGHTED,
                                      MPI_INFO_NULL, 0, &comm));
    OK(MPI_Dist_graph_neighbors(comm, size, found, MPI_UNWEIGHTED, size, again, MPI_UNWEIGHTED));
    CHECK(memcmp(neighbors, found, sizeof(int) * (size_t)size) == 0);
    CHECK(memcmp(neighbors, again, sizeof(int) * (size_t)size) == 0);
    OK(MPI_Comm_free(&comm));
}

static void errors(void)
{
    int zero = 0, one = 1, outside = 1, negative = -1;
    MPI_Comm comm;
    MPI_Comm self = MPI_COMM_SELF;
    MPI_Info none = MPI_INFO_NULL;
    FAILS(MPI_ERR_RANK, MPI_Dist_graph_create(self, 1, &outside, &one, &zero, MPI_UNWEIGHTED, none, 0, &comm));
    FAILS(MPI_ERR_RANK, MPI_Dist_graph_create(self, 1, &zero, &one, &negative, MPI_UNWEIGHTED, none, 0, &comm));
    FAILS(MPI_ERR_ARG, MPI_Dist_graph_create(self, 1, &zero, &one, &zero, &negative, none, 0, &comm));
    FAILS(MPI_ERR_ARG, MPI_Dist_graph_create(self, 1, &zero, &negative, &zero, &one, none, 0, &comm));
    FAILS(MPI_ERR_ARG, MPI_Dist_graph_create(self, -1, &zero, &one, &zero, &one, none, 0, &comm));
    FAILS(MPI_ERR_ARG, MPI_Dist_graph_create(self, 1, &zero, &one, NULL, &one, none, 0, &comm));
    FAILS(MPI_ERR_ARG, MPI_Dist_graph_create(self, 1, &zero, &one, &zero, MPI_WEIGHTS_EMPTY, none, 0, &comm));
    FAILS(MPI_ERR_TOPOLOGY,
          MPI_Dist_graph_create_adjacent(self, 1, &zero, &one, 1, &zero, MPI_UNWEIGHTED, none, 0, &comm));
    FAILS(MPI_ERR_RANK, MPI_Dist_graph_create_adjacent(self, 1, &outside, MPI_UNWEIGHTED, 1, &zero, MPI_UNWEIGHTED, none,
                                                       0, &comm));
    FAILS(MPI_ERR_ARG,
          MPI_Dist_graph_create_adjacent(self, 1, &zero, &one, 1, &zero, &negative, none, 0, &comm));
    FAILS(MPI_ERR_ARG, MPI_Dist_graph_create_adjacent(self, 1, &zero, &one, -1, &zero, &one, none, 0, &comm));
    FAILS(MPI_ERR_COMM, MPI_Dist_graph_create_adjacent(MPI_COMM_NULL, 0, NULL, MPI_UNWEIGHTED, 0, NULL, MPI_UNWEIGHTED,
                                                       none, 0, &comm));
}

int main(int argc, char **argv)
{
    check_begin(&argc, &argv);
    if (size <= 8) {
        for (int kind = 0; kind < 4; kind++) {
            adjacent(kind & 1, kind >> 1);
            for (int turn = 0; turn < 4; turn++) {
                general(kind & 1, kind >> 1, turn);
            }
        }
    }
    if (size <= MANY) {
        order();
    }
    errors();
    return check_end();
}
