/* Persistent requests (MPI 5.0, section 3.9): start, startall, many rounds, mixes of persistent and plain partners,
 * and MPI_Request_free of requests that are inactive or still active. */
#include "../check.h"

enum { ROUNDS = 50 };

static void exchange_with_all(void)
{
    MPI_Request *requests = allocate(2 * (size_t)size * sizeof *requests);
    int *in = allocate((size_t)size * sizeof *in), *out = allocate((size_t)size * sizeof *out);
    for (int peer = 0; peer < size; peer++) {
        OK(MPI_Recv_init(&in[peer], 1, MPI_INT, peer, 1, MPI_COMM_WORLD, &requests[peer]));
        OK(MPI_Send_init(&out[peer], 1, MPI_INT, peer, 1, MPI_COMM_WORLD, &requests[size + peer]));
    }
    for (int turn = 0; turn < ROUNDS; turn++) {
        for (int peer = 0; peer < size; peer++) {
            out[peer] = 10000 * turn + 100 * rank + peer;
        }
        OK(MPI_Startall(2 * size, requests));
        OK(MPI_Waitall(2 * size, requests, MPI_STATUSES_IGNORE));
        for (int peer = 0; peer < size; peer++) {
            CHECK_EQ(in[peer], 10000 * turn + 100 * peer + rank);
            CHECK(requests[peer] != MPI_REQUEST_NULL);
        }
    }
    for (int i = 0; i < 2 * size; i++) {
        OK(MPI_Request_free(&requests[i]));
    }
    free(requests);
    free(in);
    free(out);
}

static void with_plain_partner(void)
{
    int right = (rank + 1) % size, left = (rank + size - 1) % size, in = -1;
    MPI_Request receive, send;
    MPI_Status status;
    OK(MPI_Recv_init(&in, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &receive));
    for (int turn = 0; turn < ROUNDS; turn++) {
        OK(MPI_Start(&receive));
        OK(MPI_Isend(&turn, 1, MPI_INT, right, turn, MPI_COMM_WORLD, &send));
        OK(MPI_Wait(&receive, &status));
        OK(MPI_Wait(&send, MPI_STATUS_IGNORE));
        CHECK_EQ(status.MPI_SOURCE, left);
        CHECK_EQ(status.MPI_TAG, in);
        CHECK_EQ(in, turn);
    }
    OK(MPI_Request_free(&receive));
}

/* Freed while active: the operation still completes, which the partner's answer shows. */
static void freed_while_active(void)
{
    static double large[200000], in_large[200000];
    int right = (rank + 1) % size, left = (rank + size - 1) % size, answer = 0;
    MPI_Request send, receive, answers[2];
    fill(large, sizeof large, (unsigned)rank);
    OK(MPI_Irecv(in_large, 200000, MPI_DOUBLE, left, 5, MPI_COMM_WORLD, &receive));
    OK(MPI_Send_init(large, 200000, MPI_DOUBLE, right, 5, MPI_COMM_WORLD, &send));
    OK(MPI_Start(&send));
    OK(MPI_Request_free(&send));
    CHECK(send == MPI_REQUEST_NULL);
    OK(MPI_Irecv(&answer, 1, MPI_INT, right, 6, MPI_COMM_WORLD, &answers[0]));
    OK(MPI_Wait(&receive, MPI_STATUS_IGNORE));
    CHECK(filled(in_large, sizeof in_large, (unsigned)left));
    OK(MPI_Isend(&rank, 1, MPI_INT, left, 6, MPI_COMM_WORLD, &answers[1]));
    OK(MPI_Waitall(2, answers, MPI_STATUSES_IGNORE));
    CHECK_EQ(answer, right);

    OK(MPI_Isend(&rank, 1, MPI_INT, right, 7, MPI_COMM_WORLD, &send));
    OK(MPI_Request_free(&send));
    OK(MPI_Recv(&answer, 1, MPI_INT, left, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    CHECK_EQ(answer, left);
}

int main(int argc, char **argv)
{
    check_begin(&argc, &argv);
    exchange_with_all();
    with_plain_partner();
    freed_while_active();
    OK(MPI_Startall(0, NULL));
    OK(MPI_Barrier(MPI_COMM_WORLD));
    return check_end();
}
