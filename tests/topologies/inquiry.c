/* Which topology a communicator has (MPI 5.0, section 8.5.5): none, one of the three kinds, and after duplicating the same
 * again, but not after splitting; and that each question about one kind is refused by the others. */
#include "../check.h"

static void check_kind(MPI_Comm comm, int kind)
{
    int status = 0;
    OK(MPI_Topo_test(comm, &status));
    CHECK_EQ(status, kind);
}

static void check_questions(MPI_Comm comm, int kind)
{
    int a[8], b[8], c[8], remain[2] = {1, 1}, zero[2] = {0, 0};
    int cartesian = kind == MPI_CART, graph = kind == MPI_GRAPH, distributed = kind == MPI_DIST_GRAPH;
    MPI_Comm part = MPI_COMM_NULL;
    FAILS(cartesian ? MPI_SUCCESS : MPI_ERR_TOPOLOGY, MPI_Cartdim_get(comm, a));
    FAILS(cartesian ? MPI_SUCCESS : MPI_ERR_TOPOLOGY, MPI_Cart_get(comm, 2, a, b, c));
    FAILS(cartesian ? MPI_SUCCESS : MPI_ERR_TOPOLOGY, MPI_Cart_rank(comm, zero, a));
    FAILS(cartesian ? MPI_SUCCESS : MPI_ERR_TOPOLOGY, MPI_Cart_coords(comm, 0, 2, a));
    FAILS(cartesian ? MPI_SUCCESS : MPI_ERR_TOPOLOGY, MPI_Cart_shift(comm, 0, 1, a, b));
    FAILS(cartesian ? MPI_SUCCESS : MPI_ERR_TOPOLOGY, MPI_Cart_sub(comm, remain, &part));
    if (part != MPI_COMM_NULL) {
        OK(MPI_Comm_free(&part));
    }
    FAILS(graph ? MPI_SUCCESS : MPI_ERR_TOPOLOGY, MPI_Graphdims_get(comm, a, b));
    FAILS(graph ? MPI_SUCCESS : MPI_ERR_TOPOLOGY, MPI_Graph_get(comm, 8, 8, a, b));
    FAILS(graph ? MPI_SUCCESS : MPI_ERR_TOPOLOGY, MPI_Graph_neighbors_count(comm, 0, a));
    FAILS(graph ? MPI_SUCCESS : MPI_ERR_TOPOLOGY, MPI_Graph_neighbors(comm, 0, 8, a));
    FAILS(distributed ? MPI_SUCCESS : MPI_ERR_TOPOLOGY, MPI_Dist_graph_neighbors_count(comm, a, b, c));
    FAILS(distributed ? MPI_SUCCESS : MPI_ERR_TOPOLOGY, MPI_Dist_graph_neighbors(comm, 8, a, b, 8, c, b));
}

/* Asks, duplicates and splits; frees. */
static void check_all(MPI_Comm comm, int kind)
{
    MPI_Comm copy, part;
    MPI_Request request;
    MPI_Group group;
    int ranks;
    check_kind(comm, kind);
    check_questions(comm, kind);
    OK(MPI_Comm_dup(comm, &copy));
    check_kind(copy, kind);
    check_questions(copy, kind);
    OK(MPI_Comm_free(&copy));
    OK(MPI_Comm_idup(comm, &copy, &request));
    OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    check_kind(copy, kind);
    OK(MPI_Comm_free(&copy));
    OK(MPI_Comm_dup_with_info(comm, MPI_INFO_NULL, &copy));
    check_kind(copy, kind);
    OK(MPI_Comm_size(comm, &ranks));
    OK(MPI_Comm_split(copy, 0, 0, &part));
    check_kind(part, MPI_UNDEFINED);
    OK(MPI_Comm_free(&part));
    OK(MPI_Comm_group(copy, &group));
    OK(MPI_Comm_create(copy, group, &part));
    check_kind(part, MPI_UNDEFINED);
    OK(MPI_Group_free(&group));
    OK(MPI_Comm_free(&part));
    OK(MPI_Comm_free(&copy));
}

static void inter(void)
{
    MPI_Comm half, both, comm = MPI_COMM_NULL;
    int one = 1, none = 0;
    OK(MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &half));
    OK(MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, 1 - rank % 2, 5, &both));
    check_kind(both, MPI_UNDEFINED);
    FAILS(MPI_ERR_COMM, MPI_Cart_create(both, 1, &one, &none, 0, &comm));
    FAILS(MPI_ERR_COMM, MPI_Graph_create(both, 1, &none, &none, 0, &comm));
    FAILS(MPI_ERR_COMM, MPI_Dist_graph_create(both, 0, &none, &none, &none, MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &comm));
    FAILS(MPI_ERR_COMM, MPI_Dist_graph_create_adjacent(both, 0, &none, MPI_UNWEIGHTED, 0, &none, MPI_UNWEIGHTED,
                                                       MPI_INFO_NULL, 0, &comm));
    OK(MPI_Comm_free(&both));
    OK(MPI_Comm_free(&half));
}

int main(int argc, char **argv)
{
    MPI_Comm comm;
    int dims[2] = {0, 0}, periods[2] = {0, 1}, index[64], ring[64], next, status;
    check_begin(&argc, &argv);
    check_all(MPI_COMM_WORLD, MPI_UNDEFINED);
    check_all(MPI_COMM_SELF, MPI_UNDEFINED);
    OK(MPI_Dims_create(size, 2, dims));
    OK(MPI_Cart_create(MPI_COMM_WORLD, 2, dims, periods, 0, &comm));
    check_all(comm, MPI_CART);
    OK(MPI_Comm_free(&comm));
    for (int i = 0; i < size && i < 8; i++) {
        index[i] = i + 1;
        ring[i] = (i + 1) % (size < 8 ? size : 8);
    }
    OK(MPI_Graph_create(MPI_COMM_WORLD, size < 8 ? size : 8, index, ring, 0, &comm));
    if (comm != MPI_COMM_NULL) {
        check_all(comm, MPI_GRAPH);
        OK(MPI_Comm_free(&comm));
    }
    next = (rank + 1) % size;
    OK(MPI_Dist_graph_create(MPI_COMM_WORLD, 1, &rank, (int[]){1}, &next, MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &comm));
    check_all(comm, MPI_DIST_GRAPH);
    OK(MPI_Comm_free(&comm));
    if (size > 1) {
        inter();
    }
    FAILS(MPI_ERR_COMM, MPI_Topo_test(MPI_COMM_NULL, &status));
    return check_end();
}
