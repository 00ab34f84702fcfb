/* MPI_PROC_NULL as partner of every operation (MPI 5.0, section 3.11): it succeeds at once, and a receive changes no
 * buffer and gives the status source MPI_PROC_NULL, tag MPI_ANY_TAG, count 0. */
#include "../check.h"

static void check_status(const MPI_Status *status)
{
    Count count = 1;
    CHECK_EQ(status->MPI_SOURCE, MPI_PROC_NULL);
    CHECK_EQ(status->MPI_TAG, MPI_ANY_TAG);
    OK(MPI_Get_count(status, MPI_INT, &count));
    CHECK_EQ(count, 0);
}

static void blocking(int *value)
{
    MPI_Status status;
    OK(MPI_Send(value, 1, MPI_INT, MPI_PROC_NULL, 1, MPI_COMM_WORLD));
    OK(MPI_Ssend(value, 1, MPI_INT, MPI_PROC_NULL, 1, MPI_COMM_WORLD));
    OK(MPI_Bsend(value, 1, MPI_INT, MPI_PROC_NULL, 1, MPI_COMM_WORLD));
    OK(MPI_Rsend(value, 1, MPI_INT, MPI_PROC_NULL, 1, MPI_COMM_WORLD));
    OK(MPI_Recv(value, 1, MPI_INT, MPI_PROC_NULL, 1, MPI_COMM_WORLD, &status));
    check_status(&status);
    OK(MPI_Recv(value, 1, MPI_INT, MPI_PROC_NULL, MPI_ANY_TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    OK(MPI_Sendrecv(value, 1, MPI_INT, MPI_PROC_NULL, 1, value, 1, MPI_INT, MPI_PROC_NULL, 1, MPI_COMM_WORLD, &status));
    check_status(&status);
    OK(MPI_Sendrecv_replace(value, 1, MPI_INT, MPI_PROC_NULL, 1, MPI_PROC_NULL, 1, MPI_COMM_WORLD, &status));
    check_status(&status);
}

static void nonblocking(int *value)
{
    enum { REQUESTS = 7 };
    MPI_Request requests[REQUESTS];
    MPI_Status statuses[REQUESTS];
    OK(MPI_Isend(value, 1, MPI_INT, MPI_PROC_NULL, 1, MPI_COMM_WORLD, &requests[0]));
    OK(MPI_Issend(value, 1, MPI_INT, MPI_PROC_NULL, 1, MPI_COMM_WORLD, &requests[1]));
    OK(MPI_Ibsend(value, 1, MPI_INT, MPI_PROC_NULL, 1, MPI_COMM_WORLD, &requests[2]));
    OK(MPI_Irsend(value, 1, MPI_INT, MPI_PROC_NULL, 1, MPI_COMM_WORLD, &requests[3]));
    OK(MPI_Irecv(value, 1, MPI_INT, MPI_PROC_NULL, 1, MPI_COMM_WORLD, &requests[4]));
    OK(MPI_Isendrecv(value, 1, MPI_INT, MPI_PROC_NULL, 1, NULL, 0, MPI_INT, MPI_PROC_NULL, 1, MPI_COMM_WORLD,
                     &requests[5]));
    OK(MPI_Isendrecv_replace(value, 1, MPI_INT, MPI_PROC_NULL, 1, MPI_PROC_NULL, 1, MPI_COMM_WORLD, &requests[6]));
    OK(MPI_Waitall(REQUESTS, requests, statuses));
    for (int i = 4; i < REQUESTS; i++) {
        check_status(&statuses[i]);
    }
    for (int i = 0; i < REQUESTS; i++) {
        CHECK(requests[i] == MPI_REQUEST_NULL);
    }
}

static void persistent(int *value)
{
    enum { REQUESTS = 5 };
    MPI_Request requests[REQUESTS];
    MPI_Status statuses[REQUESTS];
    OK(MPI_Send_init(value, 1, MPI_INT, MPI_PROC_NULL, 1, MPI_COMM_WORLD, &requests[0]));
    OK(MPI_Ssend_init(value, 1, MPI_INT, MPI_PROC_NULL, 1, MPI_COMM_WORLD, &requests[1]));
    OK(MPI_Bsend_init(value, 1, MPI_INT, MPI_PROC_NULL, 1, MPI_COMM_WORLD, &requests[2]));
    OK(MPI_Rsend_init(value, 1, MPI_INT, MPI_PROC_NULL, 1, MPI_COMM_WORLD, &requests[3]));
    OK(MPI_Recv_init(value, 1, MPI_INT, MPI_PROC_NULL, 1, MPI_COMM_WORLD, &requests[4]));
    for (int turn = 0; turn < 3; turn++) {
        OK(MPI_Startall(REQUESTS, requests));
        OK(MPI_Waitall(REQUESTS, requests, statuses));
        check_status(&statuses[4]);
    }
    for (int i = 0; i < REQUESTS; i++) {
        CHECK(requests[i] != MPI_REQUEST_NULL);
        OK(MPI_Request_free(&requests[i]));
    }
}

int main(int argc, char **argv)
{
    int value = 42;
    check_begin(&argc, &argv);
    blocking(&value);
    nonblocking(&value);
    persistent(&value);
    CHECK_EQ(value, 42);
    return check_end();
}
