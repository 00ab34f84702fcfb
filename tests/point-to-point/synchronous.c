/* A synchronous send completes only after its receive has started (MPI 5.0, section 3.4). No receiver posts its
 * receive before the sender has looked at its request many times, so the request must be incomplete at each look. */
#include "../check.h"

static void incomplete_until_matched(size_t bytes, unsigned char *out, unsigned char *in)
{
    int right = (rank + 1) % size, left = (rank + size - 1) % size, flag;
    MPI_Request send, looked, receive;
    fill(out, bytes, (unsigned)rank);
    OK(MPI_Issend(out, (Count)bytes, MPI_BYTE, right, 1, MPI_COMM_WORLD, &send));
    for (int i = 0; i < 50; i++) {
        OK(MPI_Test(&send, &flag, MPI_STATUS_IGNORE));
        CHECK_EQ(flag, 0);
    }
    OK(MPI_Isend(NULL, 0, MPI_BYTE, right, 2, MPI_COMM_WORLD, &looked));
    OK(MPI_Recv(NULL, 0, MPI_BYTE, left, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    OK(MPI_Irecv(in, (Count)bytes, MPI_BYTE, left, 1, MPI_COMM_WORLD, &receive));
    OK(MPI_Wait(&receive, MPI_STATUS_IGNORE));
    OK(MPI_Wait(&send, MPI_STATUS_IGNORE));
    OK(MPI_Wait(&looked, MPI_STATUS_IGNORE));
    CHECK(filled(in, bytes, (unsigned)left));
}

/* A probe is no receive: a synchronous send that is merely probed stays incomplete. */
static void probed_is_not_received(void)
{
    int in = 0, flag = 0;
    MPI_Request send;
    OK(MPI_Issend(&rank, 1, MPI_INT, rank, 3, MPI_COMM_WORLD, &send));
    OK(MPI_Probe(rank, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    OK(MPI_Test(&send, &flag, MPI_STATUS_IGNORE));
    CHECK_EQ(flag, 0);
    OK(MPI_Recv(&in, 1, MPI_INT, rank, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    OK(MPI_Wait(&send, MPI_STATUS_IGNORE));
    CHECK_EQ(in, rank);
}

int main(int argc, char **argv)
{
    static const size_t sizes[] = {0, 1, 500, 20000, 1 << 20};
    unsigned char *out = allocate(1 << 20), *in = allocate(1 << 20);
    check_begin(&argc, &argv);
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        incomplete_until_matched(sizes[i], out, in);
    }
    probed_is_not_received();
    free(out);
    free(in);
    return check_end();
}
