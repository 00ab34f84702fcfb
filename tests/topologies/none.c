/* Which topology a communicator has (MPI 5.0, section 8.5.5): none, as long as none was attached. */
#include "../check.h"

static void check_none(MPI_Comm comm)
{
    int status = 0;
    OK(MPI_Topo_test(comm, &status));
    CHECK_EQ(status, MPI_UNDEFINED);
}

int main(int argc, char **argv)
{
    MPI_Comm half;
    check_begin(&argc, &argv);
    check_none(MPI_COMM_WORLD);
    check_none(MPI_COMM_SELF);
    OK(MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &half));
    check_none(half);
    OK(MPI_Comm_free(&half));
    FAILS(MPI_ERR_COMM, MPI_Topo_test(MPI_COMM_NULL, &rank));
    return check_end();
}
