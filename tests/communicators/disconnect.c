/* The ends of a communicator: MPI_Comm_disconnect waits for what is pending (MPI 5.0, section 11.10.4), and a process that
 * nobody spawned has no parent (section 11.8.2). */
#include "../check.h"

int main(int argc, char **argv)
{
    MPI_Comm comm, parent;
    MPI_Request send;
    int value = 0, out;
    check_begin(&argc, &argv);
    OK(MPI_Comm_get_parent(&parent));
    CHECK(parent == MPI_COMM_NULL);
    OK(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
    out = rank;
    OK(MPI_Isend(&out, 1, MPI_INT, (rank + 1) % size, 3, comm, &send));
    OK(MPI_Recv(&value, 1, MPI_INT, (rank + size - 1) % size, 3, comm, MPI_STATUS_IGNORE));
    CHECK_EQ(value, (rank + size - 1) % size);
    OK(MPI_Wait(&send, MPI_STATUS_IGNORE));
    OK(MPI_Comm_disconnect(&comm));
    CHECK(comm == MPI_COMM_NULL);
    FAILS(MPI_ERR_COMM, MPI_Comm_disconnect(&comm));
    return check_end();
}
