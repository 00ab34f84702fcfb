/* The wait and test families (MPI 5.0, section 3.7.5): active, null and inactive requests, empty lists, persistent
 * requests that survive, errors in statuses. */
#include "../check.h"

enum { N = 12 };

static void start(MPI_Request *receives, MPI_Request *sends, int *in, const int *out)
{
    for (int i = 0; i < N; i++) {
        in[i] = -1;
        OK(MPI_Irecv(&in[i], 1, MPI_INT, rank, i, MPI_COMM_WORLD, &receives[i]));
    }
    for (int i = N - 1; i >= 0; i--) {
        OK(MPI_Isend(&out[i], 1, MPI_INT, rank, i, MPI_COMM_WORLD, &sends[i]));
    }
}

static void finish_sends(MPI_Request *sends)
{
    OK(MPI_Waitall(N, sends, MPI_STATUSES_IGNORE));
    for (int i = 0; i < N; i++) {
        CHECK(sends[i] == MPI_REQUEST_NULL);
    }
}

static void any(const int *out, int test)
{
    MPI_Request receives[N], sends[N];
    MPI_Status status;
    int in[N], index, flag, seen = 0;
    start(receives, sends, in, out);
    for (int i = 0; i < N; i++) {
        flag = !test;
        if (!test) {
            OK(MPI_Waitany(N, receives, &index, &status));
        }
        while (!flag) {
            OK(MPI_Testany(N, receives, &index, &flag, &status));
        }
        CHECK(index >= 0 && index < N);
        CHECK((seen >> index & 1) == 0);
        seen |= 1 << index;
        CHECK_EQ(status.MPI_TAG, index);
        CHECK_EQ(in[index], out[index]);
        CHECK(receives[index] == MPI_REQUEST_NULL);
    }
    CHECK_EQ(seen, (1 << N) - 1);
    OK(MPI_Waitany(N, receives, &index, &status));
    CHECK_EQ(index, MPI_UNDEFINED);
    OK(MPI_Testany(N, receives, &index, &flag, &status));
    CHECK(flag);
    CHECK_EQ(index, MPI_UNDEFINED);
    finish_sends(sends);
}

static void some(const int *out, int test)
{
    MPI_Request receives[N], sends[N];
    MPI_Status statuses[N];
    int in[N], indices[N], done = 0, count, seen = 0;
    start(receives, sends, in, out);
    while (done < N) {
        if (test) {
            OK(MPI_Testsome(N, receives, &count, indices, statuses));
        } else {
            OK(MPI_Waitsome(N, receives, &count, indices, statuses));
            CHECK(count > 0);
        }
        CHECK(count >= 0 && count <= N - done);
        for (int i = 0; i < count; i++) {
            CHECK((seen >> indices[i] & 1) == 0);
            seen |= 1 << indices[i];
            CHECK_EQ(statuses[i].MPI_TAG, indices[i]);
            CHECK_EQ(in[indices[i]], out[indices[i]]);
        }
        done += count;
    }
    CHECK_EQ(seen, (1 << N) - 1);
    OK(MPI_Waitsome(N, receives, &count, indices, statuses));
    CHECK_EQ(count, MPI_UNDEFINED);
    OK(MPI_Testsome(N, receives, &count, indices, MPI_STATUSES_IGNORE));
    CHECK_EQ(count, MPI_UNDEFINED);
    finish_sends(sends);
}

static void all(const int *out, int test)
{
    MPI_Request receives[N + 1], sends[N];
    MPI_Status statuses[N + 1];
    int in[N], flag = 0;
    start(receives, sends, in, out);
    receives[N] = MPI_REQUEST_NULL;
    if (test) {
        while (!flag) {
            OK(MPI_Testall(N + 1, receives, &flag, statuses));
        }
    } else {
        OK(MPI_Waitall(N + 1, receives, statuses));
    }
    for (int i = 0; i < N; i++) {
        CHECK_EQ(in[i], out[i]);
        CHECK_EQ(statuses[i].MPI_TAG, i);
        CHECK_EQ(statuses[i].MPI_SOURCE, rank);
    }
    CHECK_EQ(statuses[N].MPI_TAG, MPI_ANY_TAG);
    CHECK_EQ(statuses[N].MPI_SOURCE, MPI_ANY_SOURCE);
    finish_sends(sends);
}

static void empty_lists(void)
{
    int index = 3, flag = 0, count = 3;
    OK(MPI_Waitall(0, NULL, MPI_STATUSES_IGNORE));
    OK(MPI_Testall(0, NULL, &flag, MPI_STATUSES_IGNORE));
    CHECK(flag);
    OK(MPI_Waitany(0, NULL, &index, MPI_STATUS_IGNORE));
    CHECK_EQ(index, MPI_UNDEFINED);
    index = flag = 0;
    OK(MPI_Testany(0, NULL, &index, &flag, MPI_STATUS_IGNORE));
    CHECK(flag);
    CHECK_EQ(index, MPI_UNDEFINED);
    OK(MPI_Waitsome(0, NULL, &count, NULL, MPI_STATUSES_IGNORE));
    CHECK_EQ(count, MPI_UNDEFINED);
    count = 3;
    OK(MPI_Testsome(0, NULL, &count, NULL, MPI_STATUSES_IGNORE));
    CHECK_EQ(count, MPI_UNDEFINED);
}

/* Inactive persistent requests count as complete and empty. */
static void inactive(void)
{
    MPI_Request requests[2];
    MPI_Status statuses[2];
    int value, flag = 0, index = 0, count = 0, indices[2];
    OK(MPI_Recv_init(&value, 1, MPI_INT, rank, 60, MPI_COMM_WORLD, &requests[0]));
    requests[1] = MPI_REQUEST_NULL;
    statuses[0].MPI_TAG = 1;
    OK(MPI_Wait(&requests[0], &statuses[0]));
    CHECK_EQ(statuses[0].MPI_TAG, MPI_ANY_TAG);
    CHECK(requests[0] != MPI_REQUEST_NULL);
    OK(MPI_Test(&requests[0], &flag, &statuses[0]));
    CHECK(flag);
    OK(MPI_Waitall(2, requests, statuses));
    OK(MPI_Waitany(2, requests, &index, &statuses[0]));
    CHECK_EQ(index, MPI_UNDEFINED);
    OK(MPI_Waitsome(2, requests, &count, indices, statuses));
    CHECK_EQ(count, MPI_UNDEFINED);
    flag = 0;
    OK(MPI_Testall(2, requests, &flag, MPI_STATUSES_IGNORE));
    CHECK(flag);
    OK(MPI_Request_free(&requests[0]));
}

static void not_yet(void)
{
    MPI_Request request;
    MPI_Status status;
    int flag = 1, value = 0, index = 0, count = 9, indices[1], out = 6;
    OK(MPI_Irecv(&value, 1, MPI_INT, rank, 61, MPI_COMM_WORLD, &request));
    OK(MPI_Test(&request, &flag, &status));
    CHECK_EQ(flag, 0);
    OK(MPI_Testany(1, &request, &index, &flag, &status));
    CHECK_EQ(flag, 0);
    CHECK_EQ(index, MPI_UNDEFINED);
    OK(MPI_Testall(1, &request, &flag, &status));
    CHECK_EQ(flag, 0);
    OK(MPI_Testsome(1, &request, &count, indices, &status));
    CHECK_EQ(count, 0);
    OK(MPI_Send(&out, 1, MPI_INT, rank, 61, MPI_COMM_WORLD));
    OK(MPI_Wait(&request, &status));
    CHECK_EQ(value, 6);
}

/* A truncated message among good ones: MPI_ERR_IN_STATUS, and each status tells its own story. */
static void error_in_status(void)
{
    MPI_Request requests[3];
    MPI_Status statuses[3];
    int in[4] = {0}, out[4] = {1, 2, 3, 4}, class;
    OK(MPI_Irecv(&in[0], 1, MPI_INT, rank, 62, MPI_COMM_WORLD, &requests[0]));
    OK(MPI_Irecv(&in[1], 1, MPI_INT, rank, 63, MPI_COMM_WORLD, &requests[1]));
    OK(MPI_Irecv(&in[2], 1, MPI_INT, rank, 64, MPI_COMM_WORLD, &requests[2]));
    OK(MPI_Send(out, 1, MPI_INT, rank, 62, MPI_COMM_WORLD));
    MPI_Send(out, 3, MPI_INT, rank, 63, MPI_COMM_WORLD);
    OK(MPI_Send(out, 1, MPI_INT, rank, 64, MPI_COMM_WORLD));
    FAILS(MPI_ERR_IN_STATUS, MPI_Waitall(3, requests, statuses));
    OK(MPI_Error_class(statuses[1].MPI_ERROR, &class));
    CHECK_EQ(class, MPI_ERR_TRUNCATE);
    for (int i = 0; i < 3; i += 2) {
        CHECK(statuses[i].MPI_ERROR == MPI_SUCCESS || statuses[i].MPI_ERROR == MPI_ERR_PENDING);
        if (statuses[i].MPI_ERROR == MPI_ERR_PENDING) {
            OK(MPI_Wait(&requests[i], &statuses[i]));
        }
        CHECK_EQ(in[i], 1);
    }
}

int main(int argc, char **argv)
{
    int out[N];
    check_begin(&argc, &argv);
    for (int i = 0; i < N; i++) {
        out[i] = 1000 * rank + i;
    }
    for (int test = 0; test < 2; test++) {
        any(out, test);
        some(out, test);
        all(out, test);
    }
    empty_lists();
    inactive();
    not_yet();
    error_in_status();
    return check_end();
}
