/* Errors of calls that have a request or a message and no communicator go to the error handler of the communicator that the
 * operation is on (MPI 5.0, section 9.3), and not to that of MPI_COMM_SELF. */
#include "../check.h"

static int of_communicator, of_others;

static void count(MPI_Comm *comm, int *code, ...)
{
    (void)comm, (void)code;
    of_communicator++;
}

static void count_others(MPI_Comm *comm, int *code, ...)
{
    (void)comm, (void)code;
    of_others++;
}

/* The call before has called the communicator's error handler once, and no other. */
static void check_called(int line)
{
    if (of_communicator != 1 || of_others != 0) {
        check_failed(__FILE__, line, "not the communicator's error handler was called");
    }
    of_communicator = of_others = 0;
}

static void messages(MPI_Comm comm)
{
    MPI_Message message;
    MPI_Request request;
    int out[2] = {1, 2}, in;
    OK(MPI_Isend(out, 2, MPI_INT, 0, 1, comm, &request));
    OK(MPI_Mprobe(0, 1, comm, &message, MPI_STATUS_IGNORE));
    FAILS(MPI_ERR_COUNT, MPI_Mrecv(&in, -1, MPI_INT, &message, MPI_STATUS_IGNORE));
    check_called(__LINE__);
    FAILS(MPI_ERR_TRUNCATE, MPI_Mrecv(&in, 1, MPI_INT, &message, MPI_STATUS_IGNORE));
    check_called(__LINE__);
    OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
}

static void requests(MPI_Comm comm)
{
    MPI_Request request;
    int out[2] = {1, 2}, in;
    OK(MPI_Recv_init(&in, 1, MPI_INT, 0, 2, comm, &request));
    FAILS(MPI_ERR_REQUEST, MPI_Cancel(&request));
    check_called(__LINE__);
    OK(MPI_Start(&request));
    FAILS(MPI_ERR_REQUEST, MPI_Start(&request));
    check_called(__LINE__);
    OK(MPI_Send(out, 2, MPI_INT, 0, 2, comm));
    FAILS(MPI_ERR_TRUNCATE, MPI_Wait(&request, MPI_STATUS_IGNORE));
    check_called(__LINE__);
    OK(MPI_Request_free(&request));
    OK(MPI_Bsend_init(out, 2, MPI_INT, 0, 3, comm, &request));
    FAILS(MPI_ERR_BUFFER, MPI_Startall(1, &request));
    check_called(__LINE__);
    OK(MPI_Request_free(&request));
}

int main(int argc, char **argv)
{
    MPI_Comm comm;
    MPI_Errhandler errors, others;
    check_begin(&argc, &argv);
    OK(MPI_Comm_dup(MPI_COMM_SELF, &comm));
    OK(MPI_Comm_create_errhandler(count, &errors));
    OK(MPI_Comm_create_errhandler(count_others, &others));
    OK(MPI_Comm_set_errhandler(comm, errors));
    OK(MPI_Comm_set_errhandler(MPI_COMM_SELF, others));
    OK(MPI_Comm_set_errhandler(MPI_COMM_WORLD, others));
    messages(comm);
    requests(comm);
    OK(MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN));
    OK(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN));
    OK(MPI_Errhandler_free(&errors));
    OK(MPI_Errhandler_free(&others));
    OK(MPI_Comm_free(&comm));
    return check_end();
}
