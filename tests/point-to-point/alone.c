/* A process that is the only one of its job waits for a message that nobody can send: it gets an error and, with it, its buffer back. */
#include "../check.h"

/* Nothing that is received later may land where a call that has failed wanted it. */
static void check_taken_back(MPI_Comm comm, const int *place)
{
    int out = 5, in = 0;
    OK(MPI_Send(&out, 1, MPI_INT, 0, 0, comm));
    CHECK_EQ(*place, 1);
    OK(MPI_Recv(&in, 1, MPI_INT, 0, 0, comm, MPI_STATUS_IGNORE));
    CHECK_EQ(in, 5);
}

int main(int argc, char **argv)
{
    int provided, place = 1, out = 2;
    MPI_Comm comm;
    check_begin(&argc, &argv);
    OK(MPI_Query_thread(&provided));
    if (size == 1 && provided < MPI_THREAD_MULTIPLE) {
        OK(MPI_Comm_dup(MPI_COMM_SELF, &comm));
        FAILS(MPI_ERR_OTHER, MPI_Recv(&place, 1, MPI_INT, 0, 0, comm, MPI_STATUS_IGNORE));
        check_taken_back(comm, &place);
        FAILS(MPI_ERR_OTHER, MPI_Sendrecv(&out, 1, MPI_INT, MPI_PROC_NULL, 0, &place, 1, MPI_INT, 0, 0, comm,
                                          MPI_STATUS_IGNORE));
        check_taken_back(comm, &place);
        FAILS(MPI_ERR_OTHER, MPI_Sendrecv_replace(&place, 1, MPI_INT, MPI_PROC_NULL, 0, MPI_ANY_SOURCE, MPI_ANY_TAG,
                                                  comm, MPI_STATUS_IGNORE));
        check_taken_back(comm, &place);
        FAILS(MPI_ERR_OTHER, MPI_Ssend(&out, 1, MPI_INT, 0, 0, comm));
        check_taken_back(comm, &place);
        OK(MPI_Comm_free(&comm));
    }
    return check_end();
}
