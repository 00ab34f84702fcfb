/* Cancelling receives (MPI 5.0, section 3.8.4): a receive that matched nothing is cancelled and completes locally, one
 * that has its message completes normally, and a cancelled receive takes no later message. */
#include "../check.h"

static void unmatched(int source)
{
    MPI_Request request;
    MPI_Status status;
    int value = 5, cancelled = 0;
    OK(MPI_Irecv(&value, 1, MPI_INT, source, 40, MPI_COMM_WORLD, &request));
    OK(MPI_Cancel(&request));
    CHECK(request != MPI_REQUEST_NULL);
    OK(MPI_Wait(&request, &status));
    OK(MPI_Test_cancelled(&status, &cancelled));
    CHECK(cancelled);
    CHECK(request == MPI_REQUEST_NULL);
    CHECK_EQ(value, 5);
}

static void matched(void)
{
    MPI_Request receive, send;
    MPI_Status status;
    int in = 0, out = 17 + rank, cancelled = 1;
    OK(MPI_Irecv(&in, 1, MPI_INT, rank, 41, MPI_COMM_WORLD, &receive));
    OK(MPI_Issend(&out, 1, MPI_INT, rank, 41, MPI_COMM_WORLD, &send));
    OK(MPI_Wait(&send, MPI_STATUS_IGNORE));
    OK(MPI_Cancel(&receive));
    OK(MPI_Wait(&receive, &status));
    OK(MPI_Test_cancelled(&status, &cancelled));
    CHECK_EQ(cancelled, 0);
    CHECK_EQ(in, out);
    CHECK_EQ(status.MPI_SOURCE, rank);
}

static void later_message(void)
{
    MPI_Request first, second, send;
    MPI_Status status;
    int in[2] = {0, 0}, out = 3, flag = 0, right = (rank + 1) % size, left = (rank + size - 1) % size;
    OK(MPI_Irecv(&in[0], 1, MPI_INT, left, 42, MPI_COMM_WORLD, &first));
    OK(MPI_Irecv(&in[1], 1, MPI_INT, left, 42, MPI_COMM_WORLD, &second));
    OK(MPI_Cancel(&first));
    while (!flag) {
        OK(MPI_Test(&first, &flag, &status));
    }
    OK(MPI_Barrier(MPI_COMM_WORLD));
    OK(MPI_Isend(&out, 1, MPI_INT, right, 42, MPI_COMM_WORLD, &send));
    OK(MPI_Wait(&second, MPI_STATUS_IGNORE));
    OK(MPI_Wait(&send, MPI_STATUS_IGNORE));
    CHECK_EQ(in[0], 0);
    CHECK_EQ(in[1], 3);
}

static void persistent(void)
{
    MPI_Request request;
    MPI_Status status;
    int value = 0, cancelled, out = 8;
    MPI_Request send;
    OK(MPI_Recv_init(&value, 1, MPI_INT, rank, 43, MPI_COMM_WORLD, &request));
    OK(MPI_Start(&request));
    OK(MPI_Cancel(&request));
    OK(MPI_Wait(&request, &status));
    OK(MPI_Test_cancelled(&status, &cancelled));
    CHECK(cancelled);
    OK(MPI_Start(&request));
    OK(MPI_Isend(&out, 1, MPI_INT, rank, 43, MPI_COMM_WORLD, &send));
    OK(MPI_Wait(&request, &status));
    OK(MPI_Wait(&send, MPI_STATUS_IGNORE));
    OK(MPI_Test_cancelled(&status, &cancelled));
    CHECK_EQ(cancelled, 0);
    CHECK_EQ(value, 8);
    OK(MPI_Request_free(&request));
}

/* Cancelling a send is deprecated: it may or may not succeed, but it tells which, and the message is there or it is not. */
static void send(size_t bytes)
{
    char *out = allocate(bytes), *in = allocate(bytes);
    MPI_Request outgoing, incoming;
    MPI_Status status;
    int sent_cancelled = -1, received_cancelled = -1;
    fill(out, bytes, 4);
    OK(MPI_Isend(out, (Count)bytes, MPI_BYTE, rank, 44, MPI_COMM_WORLD, &outgoing));
    OK(MPI_Cancel(&outgoing));
    OK(MPI_Irecv(in, (Count)bytes, MPI_BYTE, rank, 44, MPI_COMM_WORLD, &incoming));
    OK(MPI_Wait(&outgoing, &status));
    OK(MPI_Test_cancelled(&status, &sent_cancelled));
    if (sent_cancelled) {
        OK(MPI_Cancel(&incoming));
    }
    OK(MPI_Wait(&incoming, &status));
    OK(MPI_Test_cancelled(&status, &received_cancelled));
    CHECK_EQ(received_cancelled, sent_cancelled);
    CHECK(sent_cancelled || filled(in, bytes, 4));
    free(out);
    free(in);
}

static void many(void)
{
    enum { RECEIVES = 200 };
    MPI_Request requests[RECEIVES];
    MPI_Status statuses[RECEIVES];
    int values[RECEIVES], cancelled;
    for (int i = 0; i < RECEIVES; i++) {
        OK(MPI_Irecv(&values[i], 1, MPI_INT, i % 2 ? MPI_ANY_SOURCE : rank, 50 + i, MPI_COMM_WORLD, &requests[i]));
    }
    for (int i = RECEIVES - 1; i >= 0; i--) {
        OK(MPI_Cancel(&requests[i]));
    }
    OK(MPI_Waitall(RECEIVES, requests, statuses));
    for (int i = 0; i < RECEIVES; i++) {
        OK(MPI_Test_cancelled(&statuses[i], &cancelled));
        CHECK(cancelled);
    }
}

int main(int argc, char **argv)
{
    check_begin(&argc, &argv);
    unmatched((rank + 1) % size);
    unmatched(MPI_ANY_SOURCE);
    matched();
    later_message();
    persistent();
    send(4);
    send(1 << 20);
    many();
    return check_end();
}
