/* A message longer than the receive buffer (MPI 5.0, section 3.2.2) gives MPI_ERR_TRUNCATE at the receiver, at every
 * size and for every kind of receive; nothing is written past the buffer, and later messages are not disturbed. */
#include "../check.h"

enum { GUARD = 64 };

static int receive(int kind, unsigned char *in, size_t room, int from)
{
    MPI_Request request;
    MPI_Message message;
    MPI_Status status;
    int code, flag = 0, index;
    switch (kind) {
    case 0: return MPI_Recv(in, (Count)room, MPI_BYTE, from, 1, MPI_COMM_WORLD, &status);
    case 1:
        OK(MPI_Irecv(in, (Count)room, MPI_BYTE, from, 1, MPI_COMM_WORLD, &request));
        return MPI_Wait(&request, &status);
    case 2:
        OK(MPI_Irecv(in, (Count)room, MPI_BYTE, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &request));
        do {
            code = MPI_Test(&request, &flag, &status);
        } while (code == MPI_SUCCESS && !flag);
        return code;
    case 3:
        OK(MPI_Mprobe(from, 1, MPI_COMM_WORLD, &message, &status));
        return MPI_Mrecv(in, (Count)room, MPI_BYTE, &message, &status);
    default:
        OK(MPI_Irecv(in, (Count)room, MPI_BYTE, from, 1, MPI_COMM_WORLD, &request));
        return MPI_Waitany(1, &request, &index, &status);
    }
}

static void truncated(int kind, size_t bytes, size_t room, unsigned char *out, unsigned char *in)
{
    int right = (rank + 1) % size, left = (rank + size - 1) % size;
    MPI_Request send;
    int good = 0;
    fill(out, bytes, (unsigned)rank);
    memset(in, 0xee, room + GUARD);
    OK(MPI_Isend(out, (Count)bytes, MPI_BYTE, right, 1, MPI_COMM_WORLD, &send));
    FAILS(MPI_ERR_TRUNCATE, receive(kind, in, room, left));
    for (int i = 0; i < GUARD; i++) {
        CHECK_EQ(in[room + (size_t)i], 0xee);
    }
    /* The sender of a truncated message may or may not learn of it, but its request completes. */
    MPI_Wait(&send, MPI_STATUS_IGNORE);
    OK(MPI_Sendrecv(&rank, 1, MPI_INT, right, 2, &good, 1, MPI_INT, left, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    CHECK_EQ(good, left);
}

int main(int argc, char **argv)
{
    static const size_t sizes[] = {1, 100, 5000, 100000, 2000000};
    unsigned char *out = allocate(2000000), *in = allocate(2000000 + GUARD);
    check_begin(&argc, &argv);
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        for (int kind = 0; kind < 5; kind++) {
            truncated(kind, sizes[i], sizes[i] / 2, out, in);
            truncated(kind, sizes[i], sizes[i] - 1, out, in);
            truncated(kind, sizes[i], 0, out, in);
        }
    }
    free(out);
    free(in);
    return check_end();
}
