/* Generalized requests (MPI 5.0, section 13.2): which callback is called when, and whose code comes back. */
#include "../check.h"

#include <pthread.h>

typedef struct {
    int queries, frees, cancels, cancelled_complete;
    int bytes, tag, cancelled;
    int query_code, free_code, cancel_code;
} Operation;

static int query(void *extra_state, MPI_Status *status)
{
    Operation *operation = extra_state;
    operation->queries++;
    OK(MPI_Status_set_elements(status, MPI_BYTE, operation->bytes));
    OK(MPI_Status_set_cancelled(status, operation->cancelled));
    OK(MPI_Status_set_source(status, rank));
    OK(MPI_Status_set_tag(status, operation->tag));
    return operation->query_code;
}

static int release(void *extra_state)
{
    Operation *operation = extra_state;
    operation->frees++;
    return operation->free_code;
}

static int cancel(void *extra_state, int complete)
{
    Operation *operation = extra_state;
    operation->cancels++;
    operation->cancelled_complete = complete;
    operation->cancelled = !complete;
    return operation->cancel_code;
}

static MPI_Request start(Operation *operation, int bytes, int tag)
{
    MPI_Request request;
    memset(operation, 0, sizeof *operation);
    operation->bytes = bytes;
    operation->tag = tag;
    OK(MPI_Grequest_start(query, release, cancel, operation, &request));
    CHECK(request != MPI_REQUEST_NULL);
    return request;
}

static void check_status(const MPI_Status *status, const Operation *operation)
{
    Count bytes = -1;
    int cancelled = -1;
    OK(MPI_Get_count(status, MPI_BYTE, &bytes));
    OK(MPI_Test_cancelled(status, &cancelled));
    CHECK_EQ(bytes, operation->bytes);
    CHECK_EQ(cancelled, operation->cancelled);
    CHECK_EQ(status->MPI_SOURCE, rank);
    CHECK_EQ(status->MPI_TAG, operation->tag);
}

static void one(void)
{
    Operation operation;
    MPI_Request request = start(&operation, 12, 7);
    MPI_Status status;
    int flag = 1;
    OK(MPI_Test(&request, &flag, &status));
    CHECK_EQ(flag, 0);
    OK(MPI_Request_get_status(request, &flag, &status));
    CHECK_EQ(flag, 0);
    CHECK_EQ(operation.queries + operation.frees, 0);
    OK(MPI_Grequest_complete(request));
    CHECK_EQ(operation.queries + operation.frees, 0);
    FAILS(MPI_ERR_REQUEST, MPI_Grequest_complete(request));
    OK(MPI_Request_get_status(request, &flag, &status));
    CHECK_EQ(flag, 1);
    CHECK_EQ(operation.queries, 1);
    CHECK_EQ(operation.frees, 0);
    check_status(&status, &operation);
    status.MPI_ERROR = 1234;
    OK(MPI_Wait(&request, &status));
    CHECK(request == MPI_REQUEST_NULL);
    CHECK_EQ(status.MPI_ERROR, 1234);
    CHECK_EQ(operation.queries, 2);
    CHECK_EQ(operation.frees, 1);
    check_status(&status, &operation);

    request = start(&operation, 1, 1);
    OK(MPI_Grequest_complete(request));
    OK(MPI_Test(&request, &flag, MPI_STATUS_IGNORE));
    CHECK_EQ(flag, 1);
    CHECK_EQ(operation.queries, 1);
    CHECK_EQ(operation.frees, 1);
}

static void several(void)
{
    enum { REQUESTS = 4 };
    Operation operations[REQUESTS];
    MPI_Request requests[REQUESTS], receive;
    MPI_Status statuses[REQUESTS], status;
    int index, count, indices[REQUESTS], flag, value = 3, got = 0;
    for (int i = 0; i < REQUESTS; i++) {
        requests[i] = start(&operations[i], 10 + i, i);
    }
    OK(MPI_Testany(REQUESTS, requests, &index, &flag, &status));
    CHECK_EQ(flag, 0);
    OK(MPI_Grequest_complete(requests[2]));
    OK(MPI_Waitany(REQUESTS, requests, &index, &status));
    CHECK_EQ(index, 2);
    check_status(&status, &operations[2]);
    OK(MPI_Testall(REQUESTS, requests, &flag, statuses));
    CHECK_EQ(flag, 0);
    OK(MPI_Grequest_complete(requests[3]));
    OK(MPI_Request_get_status_any(REQUESTS, requests, &index, &flag, &status));
    CHECK_EQ(flag, 1);
    CHECK_EQ(index, 3);
    check_status(&status, &operations[3]);
    OK(MPI_Request_get_status_some(REQUESTS, requests, &count, indices, statuses));
    CHECK_EQ(count, 1);
    check_status(&statuses[0], &operations[3]);
    CHECK_EQ(operations[3].frees, 0);
    OK(MPI_Waitsome(REQUESTS, requests, &count, indices, statuses));
    CHECK_EQ(count, 1);
    CHECK_EQ(indices[0], 3);
    check_status(&statuses[0], &operations[3]);
    OK(MPI_Testsome(REQUESTS, requests, &count, indices, statuses));
    CHECK_EQ(count, 0);
    OK(MPI_Grequest_complete(requests[0]));
    OK(MPI_Grequest_complete(requests[1]));
    /* One array may hold requests of any kind. */
    OK(MPI_Irecv(&got, 1, MPI_INT, rank, 9, MPI_COMM_WORLD, &requests[2]));
    OK(MPI_Isend(&value, 1, MPI_INT, rank, 9, MPI_COMM_WORLD, &receive));
    OK(MPI_Waitall(REQUESTS, requests, statuses));
    OK(MPI_Wait(&receive, MPI_STATUS_IGNORE));
    CHECK_EQ(got, 3);
    check_status(&statuses[0], &operations[0]);
    check_status(&statuses[1], &operations[1]);
    for (int i = 0; i < REQUESTS; i++) {
        CHECK_EQ(operations[i].frees, 1);
        CHECK(requests[i] == MPI_REQUEST_NULL);
    }
    OK(MPI_Testall(REQUESTS, requests, &flag, MPI_STATUSES_IGNORE));
    CHECK_EQ(flag, 1);
}

/* The free callback is called by whichever comes last of the end of the operation and MPI_Request_free. */
static void freed(void)
{
    Operation operation;
    MPI_Request request = start(&operation, 0, 0), copy = request;
    OK(MPI_Request_free(&request));
    CHECK(request == MPI_REQUEST_NULL);
    CHECK_EQ(operation.frees, 0);
    OK(MPI_Grequest_complete(copy));
    CHECK_EQ(operation.frees, 1);
    CHECK_EQ(operation.queries, 0);
    FAILS(MPI_ERR_REQUEST, MPI_Grequest_complete(copy));

    request = start(&operation, 0, 0);
    OK(MPI_Grequest_complete(request));
    OK(MPI_Request_free(&request));
    CHECK(request == MPI_REQUEST_NULL);
    CHECK_EQ(operation.frees, 1);
    CHECK_EQ(operation.queries, 0);
}

static void cancelled(void)
{
    Operation operation;
    MPI_Request request = start(&operation, 5, 5);
    MPI_Status status;
    int flag;
    OK(MPI_Cancel(&request));
    CHECK_EQ(operation.cancels, 1);
    CHECK_EQ(operation.cancelled_complete, 0);
    /* Cancelling does not complete it: that is the program's part. */
    OK(MPI_Test(&request, &flag, &status));
    CHECK_EQ(flag, 0);
    OK(MPI_Grequest_complete(request));
    OK(MPI_Wait(&request, &status));
    check_status(&status, &operation);
    CHECK_EQ(operation.cancelled, 1);

    request = start(&operation, 5, 5);
    OK(MPI_Grequest_complete(request));
    OK(MPI_Cancel(&request));
    CHECK_EQ(operation.cancelled_complete, 1);
    OK(MPI_Wait(&request, &status));
    check_status(&status, &operation);
}

static void errors(void)
{
    enum { REQUESTS = 3 };
    Operation operations[REQUESTS];
    MPI_Request requests[REQUESTS], request;
    MPI_Status statuses[REQUESTS];
    int flag, class, code;
    OK(MPI_Add_error_class(&class));
    OK(MPI_Add_error_code(class, &code));
    request = start(&operations[0], 1, 1);
    operations[0].query_code = code;
    operations[0].free_code = MPI_ERR_SPAWN;
    operations[0].cancel_code = MPI_ERR_BASE;
    FAILS(MPI_ERR_BASE, MPI_Cancel(&request));
    OK(MPI_Grequest_complete(request));
    CHECK_EQ(MPI_Request_get_status(request, &flag, &statuses[0]), code);
    CHECK_EQ(MPI_Wait(&request, &statuses[0]), MPI_ERR_SPAWN);
    CHECK(request == MPI_REQUEST_NULL);

    request = start(&operations[0], 1, 1);
    operations[0].free_code = code;
    OK(MPI_Grequest_complete(request));
    CHECK_EQ(MPI_Request_free(&request), code);

    for (int i = 0; i < REQUESTS; i++) {
        requests[i] = start(&operations[i], i, i);
        OK(MPI_Grequest_complete(requests[i]));
    }
    operations[1].free_code = code;
    FAILS(MPI_ERR_IN_STATUS, MPI_Waitall(REQUESTS, requests, statuses));
    CHECK_EQ(statuses[0].MPI_ERROR, MPI_SUCCESS);
    CHECK_EQ(statuses[1].MPI_ERROR, code);
    CHECK_EQ(statuses[2].MPI_ERROR, MPI_SUCCESS);
    check_status(&statuses[2], &operations[2]);

    request = MPI_REQUEST_NULL;
    FAILS(MPI_ERR_REQUEST, MPI_Grequest_complete(request));
    OK(MPI_Irecv(&flag, 1, MPI_INT, MPI_PROC_NULL, 1, MPI_COMM_WORLD, &request));
    FAILS(MPI_ERR_REQUEST, MPI_Grequest_complete(request));
    OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    FAILS(MPI_ERR_ARG, MPI_Grequest_start(NULL, release, cancel, NULL, &request));
}

static void *complete(void *argument)
{
    MPI_Request *requests = argument;
    OK(MPI_Grequest_complete(requests[1]));
    OK(MPI_Grequest_complete(requests[0]));
    return NULL;
}

/* A thread that waits is woken by another that completes the request; one job of one rank has nobody else to wake it. */
static void between_threads(void)
{
    Operation operations[2];
    MPI_Request requests[2];
    pthread_t thread;
    int level;
    OK(MPI_Query_thread(&level));
    if (level < MPI_THREAD_MULTIPLE) {
        return;
    }
    for (int turn = 0; turn < 100; turn++) {
        MPI_Request copies[2];
        for (int i = 0; i < 2; i++) {
            copies[i] = requests[i] = start(&operations[i], i, i);
        }
        pthread_create(&thread, NULL, complete, copies);
        OK(MPI_Wait(&requests[0], MPI_STATUS_IGNORE));
        OK(MPI_Wait(&requests[1], MPI_STATUS_IGNORE));
        pthread_join(thread, NULL);
        CHECK_EQ(operations[0].frees + operations[1].frees, 2);
    }
}

int main(int argc, char **argv)
{
    check_begin(&argc, &argv);
    one();
    several();
    freed();
    cancelled();
    errors();
    between_threads();
    return check_end();
}
