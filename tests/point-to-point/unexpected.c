/* A flood of messages that nobody has posted a receive for: they wait, are found by any envelope in any order, and
 * none is lost or doubled. Communicators do not see each other's messages. */
#include "../check.h"

enum { FLOOD = 1500 };

static void reverse_order(void)
{
    int right = (rank + 1) % size, left = (rank + size - 1) % size;
    int *out = allocate(FLOOD * sizeof *out), in = -1;
    MPI_Request *sends = allocate(FLOOD * sizeof *sends);
    for (int i = 0; i < FLOOD; i++) {
        out[i] = rank * FLOOD + i;
        OK(MPI_Isend(&out[i], 1, MPI_INT, right, i, MPI_COMM_WORLD, &sends[i]));
    }
    for (int i = FLOOD - 1; i >= 0; i--) {
        OK(MPI_Recv(&in, 1, MPI_INT, left, i, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
        CHECK_EQ(in, left * FLOOD + i);
    }
    OK(MPI_Waitall(FLOOD, sends, MPI_STATUSES_IGNORE));
    free(out);
    free(sends);
}

/* Rank 0 takes nothing until everybody has sent everything that eager buffering or pending requests allow. */
static void towards_root(void)
{
    enum { EACH = 300, BYTES = 2000 };
    char *out = allocate(EACH * BYTES), in[BYTES];
    MPI_Request sends[EACH];
    for (int i = 0; i < EACH; i++) {
        fill(out + i * BYTES, BYTES, (unsigned)(i + rank));
        OK(MPI_Isend(out + i * BYTES, BYTES, MPI_BYTE, 0, i, MPI_COMM_WORLD, &sends[i]));
    }
    OK(MPI_Barrier(MPI_COMM_WORLD));
    if (rank == 0) {
        for (int from = size - 1; from >= 0; from--) {
            for (int i = 0; i < EACH; i++) {
                OK(MPI_Recv(in, BYTES, MPI_BYTE, from, (i * 7) % EACH, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
                CHECK(filled(in, BYTES, (unsigned)((i * 7) % EACH + from)));
            }
        }
    }
    OK(MPI_Waitall(EACH, sends, MPI_STATUSES_IGNORE));
    free(out);
}

static void large_unexpected(void)
{
    size_t bytes = 3 << 20;
    int right = (rank + 1) % size, left = (rank + size - 1) % size, flag;
    unsigned char *out = allocate(bytes), *in = allocate(bytes);
    MPI_Request sends[3];
    fill(out, bytes, (unsigned)rank);
    for (int i = 0; i < 3; i++) {
        OK(MPI_Isend(out, (Count)bytes, MPI_BYTE, right, i, MPI_COMM_WORLD, &sends[i]));
    }
    OK(MPI_Barrier(MPI_COMM_WORLD));
    OK(MPI_Testall(3, sends, &flag, MPI_STATUSES_IGNORE));
    for (int i = 2; i >= 0; i--) {
        memset(in, 0, bytes);
        OK(MPI_Recv(in, (Count)bytes, MPI_BYTE, left, i, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
        CHECK(filled(in, bytes, (unsigned)left));
    }
    OK(MPI_Waitall(3, sends, MPI_STATUSES_IGNORE));
    free(out);
    free(in);
}

static void communicators_apart(void)
{
    enum { COMMS = 5 };
    MPI_Comm comms[COMMS];
    MPI_Request sends[COMMS];
    int right = (rank + 1) % size, out[COMMS], in;
    for (int i = 0; i < COMMS; i++) {
        OK(MPI_Comm_dup(MPI_COMM_WORLD, &comms[i]));
        out[i] = i;
    }
    for (int i = 0; i < COMMS; i++) {
        OK(MPI_Isend(&out[i], 1, MPI_INT, right, 3, comms[i], &sends[i]));
    }
    for (int i = COMMS - 1; i >= 0; i--) {
        OK(MPI_Recv(&in, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, comms[i], MPI_STATUS_IGNORE));
        CHECK_EQ(in, i);
    }
    OK(MPI_Waitall(COMMS, sends, MPI_STATUSES_IGNORE));
    for (int i = 0; i < COMMS; i++) {
        OK(MPI_Comm_free(&comms[i]));
    }
}

int main(int argc, char **argv)
{
    check_begin(&argc, &argv);
    reverse_order();
    OK(MPI_Barrier(MPI_COMM_WORLD));
    towards_root();
    OK(MPI_Barrier(MPI_COMM_WORLD));
    large_unexpected();
    communicators_apart();
    return check_end();
}
