/* Probing (MPI 5.0, section 3.8): probe and iprobe leave the message in place, mprobe and improbe take it out of the
 * reach of other receives until mrecv or imrecv. */
#include "../check.h"

static void sends(MPI_Request requests[3], const int *data, int to)
{
    OK(MPI_Isend(data, 1, MPI_INT, to, 1, MPI_COMM_WORLD, &requests[0]));
    OK(MPI_Isend(data, 1000, MPI_INT, to, 2, MPI_COMM_WORLD, &requests[1]));
    OK(MPI_Isend(data, 200000, MPI_INT, to, 3, MPI_COMM_WORLD, &requests[2]));
}

static void check_envelope(const MPI_Status *status, int source, int tag, long long expected)
{
    Count count;
    CHECK_EQ(status->MPI_SOURCE, source);
    CHECK_EQ(status->MPI_TAG, tag);
    OK(MPI_Get_count(status, MPI_INT, &count));
    CHECK_EQ(count, expected);
}

static void plain(const int *data, int *in, int left, int right)
{
    MPI_Request requests[3];
    MPI_Status status, again;
    int flag = 0;

    sends(requests, data, right);
    OK(MPI_Probe(left, 3, MPI_COMM_WORLD, &status));
    check_envelope(&status, left, 3, 200000);
    OK(MPI_Probe(MPI_ANY_SOURCE, 2, MPI_COMM_WORLD, &status));
    check_envelope(&status, left, 2, 1000);
    OK(MPI_Iprobe(left, 2, MPI_COMM_WORLD, &flag, &again));
    CHECK(flag);
    check_envelope(&again, left, 2, 1000);
    OK(MPI_Probe(left, MPI_ANY_TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    OK(MPI_Recv(in, 200000, MPI_INT, left, 3, MPI_COMM_WORLD, &status));
    CHECK(memcmp(in, data, 200000 * sizeof *in) == 0);
    OK(MPI_Recv(in, 1000, MPI_INT, left, 2, MPI_COMM_WORLD, &status));
    OK(MPI_Recv(in, 1, MPI_INT, left, 1, MPI_COMM_WORLD, &status));
    OK(MPI_Waitall(3, requests, MPI_STATUSES_IGNORE));
    OK(MPI_Iprobe(MPI_ANY_SOURCE, 77, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE));
    CHECK_EQ(flag, 0);
}

static void matched(const int *data, int *in, int left, int right)
{
    MPI_Request requests[3], receive;
    MPI_Message large, small, middle = MPI_MESSAGE_NULL;
    MPI_Status status;
    int flag = 0;

    sends(requests, data, right);
    OK(MPI_Mprobe(left, 3, MPI_COMM_WORLD, &large, &status));
    check_envelope(&status, left, 3, 200000);
    OK(MPI_Iprobe(left, 3, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE));
    CHECK_EQ(flag, 0);
    while (!flag) {
        OK(MPI_Improbe(MPI_ANY_SOURCE, 2, MPI_COMM_WORLD, &flag, &middle, &status));
    }
    check_envelope(&status, left, 2, 1000);
    OK(MPI_Mprobe(left, MPI_ANY_TAG, MPI_COMM_WORLD, &small, &status));
    check_envelope(&status, left, 1, 1);

    memset(in, 0, 200000 * sizeof *in);
    OK(MPI_Imrecv(in, 200000, MPI_INT, &large, &receive));
    CHECK(large == MPI_MESSAGE_NULL);
    OK(MPI_Wait(&receive, &status));
    check_envelope(&status, left, 3, 200000);
    CHECK(memcmp(in, data, 200000 * sizeof *in) == 0);
    memset(in, 0, 1000 * sizeof *in);
    OK(MPI_Mrecv(in, 1000, MPI_INT, &middle, &status));
    CHECK(middle == MPI_MESSAGE_NULL);
    check_envelope(&status, left, 2, 1000);
    CHECK(memcmp(in, data, 1000 * sizeof *in) == 0);
    OK(MPI_Imrecv(in, 1, MPI_INT, &small, &receive));
    OK(MPI_Wait(&receive, MPI_STATUS_IGNORE));
    OK(MPI_Waitall(3, requests, MPI_STATUSES_IGNORE));
    OK(MPI_Improbe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_SELF, &flag, &middle, &status));
    CHECK_EQ(flag, 0);
}

static void check_no_process(const MPI_Status *status)
{
    check_envelope(status, MPI_PROC_NULL, MPI_ANY_TAG, 0);
}

static void no_process(void)
{
    MPI_Status status;
    MPI_Message message = MPI_MESSAGE_NULL;
    MPI_Request request;
    int flag = 0, value = 4;

    OK(MPI_Probe(MPI_PROC_NULL, 1, MPI_COMM_WORLD, &status));
    check_no_process(&status);
    OK(MPI_Iprobe(MPI_PROC_NULL, 1, MPI_COMM_WORLD, &flag, &status));
    CHECK(flag);
    check_no_process(&status);
    OK(MPI_Mprobe(MPI_PROC_NULL, 1, MPI_COMM_WORLD, &message, &status));
    CHECK(message == MPI_MESSAGE_NO_PROC);
    OK(MPI_Mrecv(&value, 1, MPI_INT, &message, &status));
    CHECK(message == MPI_MESSAGE_NULL);
    check_no_process(&status);
    OK(MPI_Improbe(MPI_PROC_NULL, 1, MPI_COMM_WORLD, &flag, &message, &status));
    CHECK(flag);
    CHECK(message == MPI_MESSAGE_NO_PROC);
    OK(MPI_Imrecv(&value, 1, MPI_INT, &message, &request));
    OK(MPI_Wait(&request, &status));
    check_no_process(&status);
    CHECK_EQ(value, 4);
}

int main(int argc, char **argv)
{
    int *data = allocate(200000 * sizeof *data), *in = allocate(200000 * sizeof *in);
    check_begin(&argc, &argv);
    fill(data, 200000 * sizeof *data, 9);
    /* Without the barriers a neighbour that is ahead could already have sent what must not be there yet. */
    for (int turn = 0; turn < 5; turn++) {
        plain(data, in, (rank + size - 1) % size, (rank + 1) % size);
        OK(MPI_Barrier(MPI_COMM_WORLD));
        matched(data, in, (rank + size - 1) % size, (rank + 1) % size);
        OK(MPI_Barrier(MPI_COMM_WORLD));
    }
    no_process();
    free(data);
    free(in);
    return check_end();
}
