/* Completion calls and null and inactive requests (MPI 5.0, sections 3.7.3 to 3.7.6 and 3.8.4): empty statuses, flags that are
 * true, MPI_UNDEFINED for indices; wrong lengths and missing places are errors that complete nothing. */
#include "empty_status.h"

static MPI_Request requests[2] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};
static int data[1];

static void nothing_active(void)
{
    MPI_Status status, statuses[2];
    int flag = 0, index = 0, count = 0, indices[2];
    OK(MPI_Wait(&requests[0], &status));
    check_empty(&status);
    OK(MPI_Test(&requests[0], &flag, &status));
    CHECK_EQ(flag, 1);
    check_empty(&status);
    OK(MPI_Waitany(2, requests, &index, &status));
    CHECK_EQ(index, MPI_UNDEFINED);
    check_empty(&status);
    OK(MPI_Testany(2, requests, &index, &flag, &status));
    CHECK_EQ(flag, 1);
    CHECK_EQ(index, MPI_UNDEFINED);
    OK(MPI_Waitall(2, requests, statuses));
    check_empty(&statuses[0]);
    check_empty(&statuses[1]);
    flag = 0;
    OK(MPI_Testall(2, requests, &flag, statuses));
    CHECK_EQ(flag, 1);
    OK(MPI_Waitsome(2, requests, &count, indices, statuses));
    CHECK_EQ(count, MPI_UNDEFINED);
    count = 0;
    OK(MPI_Testsome(2, requests, &count, indices, statuses));
    CHECK_EQ(count, MPI_UNDEFINED);
    flag = 0;
    OK(MPI_Request_get_status_all(2, requests, &flag, statuses));
    CHECK_EQ(flag, 1);
    check_empty(&statuses[1]);
    OK(MPI_Request_get_status_any(2, requests, &index, &flag, &status));
    CHECK_EQ(index, MPI_UNDEFINED);
    OK(MPI_Request_get_status_some(2, requests, &count, indices, statuses));
    CHECK_EQ(count, MPI_UNDEFINED);
}

static void empty_arrays(void)
{
    int flag = 0, index = 0, count = 0;
    OK(MPI_Waitall(0, NULL, MPI_STATUSES_IGNORE));
    OK(MPI_Testall(0, NULL, &flag, MPI_STATUSES_IGNORE));
    CHECK_EQ(flag, 1);
    OK(MPI_Waitany(0, NULL, &index, MPI_STATUS_IGNORE));
    CHECK_EQ(index, MPI_UNDEFINED);
    OK(MPI_Waitsome(0, NULL, &count, NULL, MPI_STATUSES_IGNORE));
    CHECK_EQ(count, MPI_UNDEFINED);
    OK(MPI_Startall(0, NULL));
}

static void wrong_lengths(void)
{
    int flag, index, count, indices[2];
    FAILS(MPI_ERR_COUNT, MPI_Waitall(-1, requests, MPI_STATUSES_IGNORE));
    FAILS(MPI_ERR_COUNT, MPI_Testall(-1, requests, &flag, MPI_STATUSES_IGNORE));
    FAILS(MPI_ERR_COUNT, MPI_Waitany(-1, requests, &index, MPI_STATUS_IGNORE));
    FAILS(MPI_ERR_COUNT, MPI_Testany(-1, requests, &index, &flag, MPI_STATUS_IGNORE));
    FAILS(MPI_ERR_COUNT, MPI_Waitsome(-1, requests, &count, indices, MPI_STATUSES_IGNORE));
    FAILS(MPI_ERR_COUNT, MPI_Testsome(-1, requests, &count, indices, MPI_STATUSES_IGNORE));
    FAILS(MPI_ERR_COUNT, MPI_Startall(-1, requests));
    FAILS(MPI_ERR_COUNT, MPI_Request_get_status_all(-1, requests, &flag, MPI_STATUSES_IGNORE));
    FAILS(MPI_ERR_COUNT, MPI_Request_get_status_any(-1, requests, &index, &flag, MPI_STATUS_IGNORE));
    FAILS(MPI_ERR_COUNT, MPI_Request_get_status_some(-1, requests, &count, indices, MPI_STATUSES_IGNORE));
}

/* A complete request stays complete, and there, when a call has no place for what it would say. */
static void missing_places(void)
{
    MPI_Request request;
    MPI_Status status;
    int in = -1, flag = 0, index, indices[1];
    OK(MPI_Irecv(&in, 1, MPI_INT, rank, 3, MPI_COMM_WORLD, &request));
    OK(MPI_Send(&rank, 1, MPI_INT, rank, 3, MPI_COMM_WORLD));
    FAILS(MPI_ERR_ARG, MPI_Test(&request, NULL, &status));
    FAILS(MPI_ERR_ARG, MPI_Testall(1, &request, NULL, &status));
    FAILS(MPI_ERR_ARG, MPI_Testany(1, &request, &index, NULL, &status));
    FAILS(MPI_ERR_ARG, MPI_Waitany(1, &request, NULL, &status));
    FAILS(MPI_ERR_ARG, MPI_Waitsome(1, &request, NULL, indices, &status));
    FAILS(MPI_ERR_ARG, MPI_Testsome(1, &request, NULL, indices, &status));
    OK(MPI_Test(&request, &flag, &status));
    CHECK_EQ(flag, 1);
    CHECK_EQ(status.MPI_SOURCE, rank);
    CHECK_EQ(in, rank);
    CHECK(request == MPI_REQUEST_NULL);
}

static void cancelling(void)
{
    MPI_Request inactive = requests[1];
    MPI_Status status;
    int flag = 0;
    FAILS(MPI_ERR_REQUEST, MPI_Cancel(&inactive));
    OK(MPI_Start(&inactive));
    FAILS(MPI_ERR_REQUEST, MPI_Start(&inactive));
    OK(MPI_Cancel(&inactive));
    OK(MPI_Wait(&inactive, &status));
    OK(MPI_Test_cancelled(&status, &flag));
    CHECK_EQ(flag, 1);
    FAILS(MPI_ERR_REQUEST, MPI_Cancel(&inactive));
}

int main(int argc, char **argv)
{
    check_begin(&argc, &argv);
    nothing_active();
    OK(MPI_Recv_init(data, 1, MPI_INT, rank, 9, MPI_COMM_WORLD, &requests[1]));
    nothing_active();
    CHECK(requests[1] != MPI_REQUEST_NULL);
    empty_arrays();
    wrong_lengths();
    missing_places();
    cancelling();
    OK(MPI_Request_free(&requests[1]));
    return check_end();
}
