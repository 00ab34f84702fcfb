/* Graphs that every process knows (MPI 5.0, sections 8.5.3, 8.5.5 and 8.5.8), with several edges between the same nodes,
 * edges to the node itself, edges in one direction only and nodes without any. */
#include "../check.h"

enum { EDGES_MAX = 256 };

/* Node i has i % 4 neighbours. */
static int build(int nodes, int *index, int *edges)
{
    int count = 0;
    for (int i = 0; i < nodes; i++) {
        for (int j = 0; j < i % 4; j++) {
            edges[count++] = j == 2 ? i : (i * 3 + j / 2) % nodes;
        }
        index[i] = count;
    }
    return count;
}

static void check_graph(int nodes, int reorder)
{
    int index[64], edges[EDGES_MAX], got_index[64], got_edges[EDGES_MAX], a = -1, b = -1, me, mapped = -5;
    int count = build(nodes, index, edges);
    MPI_Comm comm = MPI_COMM_WORLD;
    OK(MPI_Graph_map(MPI_COMM_WORLD, nodes, index, edges, &mapped));
    OK(MPI_Graph_create(MPI_COMM_WORLD, nodes, index, edges, reorder, &comm));
    CHECK_EQ(comm == MPI_COMM_NULL, rank >= nodes);
    if (comm == MPI_COMM_NULL) {
        CHECK_EQ(mapped, MPI_UNDEFINED);
        return;
    }
    OK(MPI_Comm_size(comm, &a));
    CHECK_EQ(a, nodes);
    OK(MPI_Comm_rank(comm, &me));
    CHECK_EQ(me, reorder ? mapped : rank);
    OK(MPI_Graphdims_get(comm, &a, &b));
    CHECK_EQ(a, nodes);
    CHECK_EQ(b, count);
    OK(MPI_Graph_get(comm, nodes, count, got_index, got_edges));
    CHECK(memcmp(index, got_index, sizeof(int) * (size_t)nodes) == 0);
    CHECK(memcmp(edges, got_edges, sizeof(int) * (size_t)count) == 0);
    for (int i = 0; i < nodes; i++) {
        const int begin = i ? index[i - 1] : 0;
        OK(MPI_Graph_neighbors_count(comm, i, &a));
        CHECK_EQ(a, i % 4);
        got_edges[a] = -9;
        OK(MPI_Graph_neighbors(comm, i, a, got_edges));
        CHECK(memcmp(edges + begin, got_edges, sizeof(int) * (size_t)a) == 0);
        CHECK_EQ(got_edges[a], -9);
    }
    OK(MPI_Barrier(comm));
    OK(MPI_Comm_free(&comm));
}

static void errors(void)
{
    int index[2] = {1, 1}, self = 0, outside = 1, negative = -1, falling[2] = {1, 0}, found[2];
    MPI_Comm comm = MPI_COMM_WORLD;
    OK(MPI_Graph_create(MPI_COMM_WORLD, 0, index, &self, 0, &comm));
    CHECK(comm == MPI_COMM_NULL);
    OK(MPI_Graph_map(MPI_COMM_WORLD, 0, index, &self, found));
    CHECK_EQ(found[0], MPI_UNDEFINED);
    FAILS(MPI_ERR_ARG, MPI_Graph_create(MPI_COMM_WORLD, -1, index, &self, 0, &comm));
    FAILS(MPI_ERR_ARG, MPI_Graph_create(MPI_COMM_WORLD, 1, index, &outside, 0, &comm));
    FAILS(MPI_ERR_ARG, MPI_Graph_create(MPI_COMM_WORLD, 1, index, &negative, 0, &comm));
    FAILS(MPI_ERR_ARG, MPI_Graph_create(MPI_COMM_WORLD, 1, &negative, &self, 0, &comm));
    FAILS(MPI_ERR_ARG, MPI_Graph_create(MPI_COMM_SELF, 2, index, &self, 0, &comm));
    FAILS(MPI_ERR_ARG, MPI_Graph_create(MPI_COMM_SELF, 2, falling, &self, 0, &comm));
    FAILS(MPI_ERR_ARG, MPI_Graph_create(MPI_COMM_WORLD, 1, NULL, &self, 0, &comm));
    FAILS(MPI_ERR_ARG, MPI_Graph_create(MPI_COMM_WORLD, 1, index, NULL, 0, &comm));
    FAILS(MPI_ERR_COMM, MPI_Graph_create(MPI_COMM_NULL, 1, index, &self, 0, &comm));
    OK(MPI_Graph_create(MPI_COMM_SELF, 1, index, &self, 0, &comm));
    FAILS(MPI_ERR_RANK, MPI_Graph_neighbors_count(comm, 1, found));
    FAILS(MPI_ERR_RANK, MPI_Graph_neighbors(comm, -1, 1, found));
    FAILS(MPI_ERR_ARG, MPI_Graph_get(comm, 0, 1, found, found + 1));
    FAILS(MPI_ERR_ARG, MPI_Graph_get(comm, 1, 0, found, found + 1));
    OK(MPI_Graph_neighbors(comm, 0, 0, found));
    OK(MPI_Comm_free(&comm));
}

int main(int argc, char **argv)
{
    check_begin(&argc, &argv);
    for (int nodes = 1; nodes <= size; nodes++) {
        check_graph(nodes, 0);
        check_graph(nodes, 1);
    }
    errors();
    return check_end();
}
