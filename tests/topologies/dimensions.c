/* Balanced grids (MPI 5.0, section 8.5.2): the examples of the standard, numbers whose factors must be combined to come
 * close, dimensions that are given, and what is no grid. */
#include "../check.h"

static void check_dims(int nodes, int a, int b, int c, int x, int y, int z)
{
    int dims[4] = {a, b, c, 77};
    OK(MPI_Dims_create(nodes, 3, dims));
    CHECK_EQ(dims[0], x);
    CHECK_EQ(dims[1], y);
    CHECK_EQ(dims[2], z);
    CHECK_EQ(dims[3], 77);
}

static void examples(void)
{
    int dims[3] = {0, 0, 0};
    OK(MPI_Dims_create(6, 2, dims));
    CHECK_EQ(dims[0], 3);
    CHECK_EQ(dims[1], 2);
    CHECK_EQ(dims[2], 0);
    dims[0] = dims[1] = 0;
    OK(MPI_Dims_create(7, 2, dims));
    CHECK_EQ(dims[0], 7);
    CHECK_EQ(dims[1], 1);
    check_dims(6, 0, 3, 0, 2, 3, 1);
    check_dims(24, 0, 0, 0, 4, 3, 2);
    check_dims(72, 0, 0, 1, 9, 8, 1);
    check_dims(1024, 0, 0, 0, 16, 8, 8);
    check_dims(1, 0, 0, 0, 1, 1, 1);
    check_dims(60, 0, 0, 0, 5, 4, 3);
    check_dims(60, 2, 0, 0, 2, 6, 5);
    check_dims(60, 0, 4, 0, 5, 4, 3);
    check_dims(60, 5, 4, 3, 5, 4, 3);
    check_dims(2147483647, 0, 0, 0, 2147483647, 1, 1);
    check_dims(1073741824, 0, 0, 0, 1024, 1024, 1024);
    check_dims(735134400, 0, 0, 0, 918, 910, 880);
}

/* Every grid has the number of nodes, in nonincreasing order, and in two dimensions nothing lies closer to the root. */
static void properties(void)
{
    for (int nodes = 1; nodes <= 200; nodes++) {
        for (int ndims = 1; ndims <= 9; ndims++) {
            int dims[9] = {0}, product = 1, root = 1;
            OK(MPI_Dims_create(nodes, ndims, dims));
            for (int i = 0; i < ndims; i++) {
                product *= dims[i];
                CHECK(dims[i] >= 1);
                CHECK(i == 0 || dims[i] <= dims[i - 1]);
            }
            CHECK_EQ(product, nodes);
            for (int i = 1; i * i <= nodes; i++) {
                root = nodes % i ? root : i;
            }
            if (ndims == 2) {
                CHECK_EQ(dims[1], root);
            }
        }
    }
}

static void errors(void)
{
    int dims[3] = {0, 0, 0};
    OK(MPI_Dims_create(1, 0, dims));
    OK(MPI_Dims_create(1, 0, NULL));
    FAILS(MPI_ERR_ARG, MPI_Dims_create(4, -1, dims));
    FAILS(MPI_ERR_ARG, MPI_Dims_create(4, 2, NULL));
    dims[1] = 7;
    FAILS(MPI_ERR_DIMS, MPI_Dims_create(6, 3, dims));
    dims[1] = -1;
    FAILS(MPI_ERR_DIMS, MPI_Dims_create(6, 3, dims));
    CHECK_EQ(dims[0], 0);
    CHECK_EQ(dims[1], -1);
}

int main(int argc, char **argv)
{
    check_begin(&argc, &argv);
    examples();
    properties();
    errors();
    return check_end();
}
