/* MPI_Request_get_status and its any, some and all forms (MPI 5.0, section 3.7.6): they tell what a test would tell and
 * leave the requests as they are. */
#include "../check.h"

static void single(void)
{
    MPI_Request request;
    MPI_Status status;
    int in = 0, out = 21, flag = 1;
    OK(MPI_Irecv(&in, 1, MPI_INT, rank, 1, MPI_COMM_WORLD, &request));
    OK(MPI_Request_get_status(request, &flag, &status));
    CHECK_EQ(flag, 0);
    OK(MPI_Send(&out, 1, MPI_INT, rank, 1, MPI_COMM_WORLD));
    do {
        OK(MPI_Request_get_status(request, &flag, &status));
    } while (!flag);
    CHECK_EQ(status.MPI_TAG, 1);
    CHECK_EQ(in, 21);
    CHECK(request != MPI_REQUEST_NULL);
    OK(MPI_Request_get_status(request, &flag, MPI_STATUS_IGNORE));
    CHECK(flag);
    OK(MPI_Wait(&request, &status));
    CHECK_EQ(status.MPI_SOURCE, rank);
    flag = 0;
    OK(MPI_Request_get_status(MPI_REQUEST_NULL, &flag, &status));
    CHECK(flag);
    CHECK_EQ(status.MPI_TAG, MPI_ANY_TAG);
}

static void lists(void)
{
    MPI_Request requests[4];
    MPI_Status statuses[4], status;
    int in[3] = {0}, out[3] = {5, 6, 7}, flag = 1, index = 0, count = 9, indices[4];
    requests[0] = MPI_REQUEST_NULL;
    for (int i = 0; i < 3; i++) {
        OK(MPI_Irecv(&in[i], 1, MPI_INT, rank, 10 + i, MPI_COMM_WORLD, &requests[i + 1]));
    }
    OK(MPI_Request_get_status_any(4, requests, &index, &flag, &status));
    CHECK_EQ(flag, 0);
    OK(MPI_Request_get_status_all(4, requests, &flag, statuses));
    CHECK_EQ(flag, 0);
    OK(MPI_Request_get_status_some(4, requests, &count, indices, statuses));
    CHECK_EQ(count, 0);

    OK(MPI_Send(&out[1], 1, MPI_INT, rank, 11, MPI_COMM_WORLD));
    do {
        OK(MPI_Request_get_status_any(4, requests, &index, &flag, &status));
    } while (!flag);
    CHECK_EQ(index, 2);
    CHECK_EQ(status.MPI_TAG, 11);
    OK(MPI_Request_get_status_some(4, requests, &count, indices, statuses));
    CHECK_EQ(count, 1);
    CHECK_EQ(indices[0], 2);
    CHECK_EQ(statuses[0].MPI_TAG, 11);
    OK(MPI_Request_get_status_all(4, requests, &flag, statuses));
    CHECK_EQ(flag, 0);

    OK(MPI_Send(&out[0], 1, MPI_INT, rank, 10, MPI_COMM_WORLD));
    OK(MPI_Send(&out[2], 1, MPI_INT, rank, 12, MPI_COMM_WORLD));
    do {
        OK(MPI_Request_get_status_all(4, requests, &flag, statuses));
    } while (!flag);
    for (int i = 0; i < 3; i++) {
        CHECK_EQ(statuses[i + 1].MPI_TAG, 10 + i);
        CHECK_EQ(in[i], out[i]);
        CHECK(requests[i + 1] != MPI_REQUEST_NULL);
    }
    CHECK_EQ(statuses[0].MPI_TAG, MPI_ANY_TAG);
    OK(MPI_Waitall(4, requests, MPI_STATUSES_IGNORE));
}

static void nothing_active(void)
{
    MPI_Request requests[2] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};
    int flag = 0, index = 0, count = 9, indices[2];
    MPI_Status status;
    status.MPI_ERROR = MPI_ERR_TYPE;
    OK(MPI_Request_get_status_any(2, requests, &index, &flag, &status));
    CHECK(flag);
    CHECK_EQ(index, MPI_UNDEFINED);
    /* The empty status of section 3.7.3 includes the error field. */
    CHECK_EQ(status.MPI_SOURCE, MPI_ANY_SOURCE);
    CHECK_EQ(status.MPI_TAG, MPI_ANY_TAG);
    CHECK_EQ(status.MPI_ERROR, MPI_SUCCESS);
    OK(MPI_Request_get_status_some(2, requests, &count, indices, MPI_STATUSES_IGNORE));
    CHECK_EQ(count, MPI_UNDEFINED);
    flag = 0;
    OK(MPI_Request_get_status_all(2, requests, &flag, MPI_STATUSES_IGNORE));
    CHECK(flag);
    flag = index = 0;
    OK(MPI_Request_get_status_any(0, NULL, &index, &flag, MPI_STATUS_IGNORE));
    CHECK(flag);
    CHECK_EQ(index, MPI_UNDEFINED);
}

int main(int argc, char **argv)
{
    check_begin(&argc, &argv);
    single();
    lists();
    nothing_active();
    return check_end();
}
