/* Error handlers on communicators (MPI 5.0, section 9.3): create, set, get, call and free, inheritance, and which
 * communicator's handler an error goes to. */
#include "../check.h"

static int calls, last_code;
static MPI_Comm last_comm;

static void handler(MPI_Comm *comm, int *code, ...)
{
    calls++;
    last_comm = *comm;
    last_code = *code;
}

static void other_handler(MPI_Comm *comm, int *code, ...)
{
    (void)comm;
    (void)code;
    calls += 100;
}

static void check_called(int expected, MPI_Comm comm, int class)
{
    int found = -1;
    CHECK_EQ(calls, expected);
    CHECK(last_comm == comm);
    OK(MPI_Error_class(last_code, &found));
    CHECK_EQ(found, class);
    calls = 0;
}

static void life(void)
{
    MPI_Errhandler errors, found, other;
    MPI_Comm comm, twin;
    int value = 0;
    OK(MPI_Comm_create_errhandler(handler, &errors));
    OK(MPI_Comm_create_errhandler(other_handler, &other));
    OK(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
    OK(MPI_Comm_get_errhandler(comm, &found));
    CHECK(found == MPI_ERRORS_RETURN);
    OK(MPI_Errhandler_free(&found));
    OK(MPI_Comm_set_errhandler(comm, errors));
    OK(MPI_Comm_get_errhandler(comm, &found));
    CHECK(found == errors);
    CHECK(MPI_Errhandler_fromint(MPI_Errhandler_toint(errors)) == errors);
    OK(MPI_Errhandler_free(&found));
    CHECK(found == MPI_ERRHANDLER_NULL);
    /* The communicator keeps the handler alive. */
    OK(MPI_Errhandler_free(&errors));
    CHECK(errors == MPI_ERRHANDLER_NULL);

    OK(MPI_Comm_call_errhandler(comm, MPI_ERR_ARG));
    check_called(1, comm, MPI_ERR_ARG);
    FAILS(MPI_ERR_RANK, MPI_Send(&value, 1, MPI_INT, size, 0, comm));
    check_called(1, comm, MPI_ERR_RANK);
    /* A duplicate inherits the handler, and keeps it when the first one changes. */
    OK(MPI_Comm_dup(comm, &twin));
    OK(MPI_Comm_set_errhandler(comm, other));
    OK(MPI_Errhandler_free(&other));
    FAILS(MPI_ERR_TAG, MPI_Send(&value, 1, MPI_INT, 0, -5, twin));
    check_called(1, twin, MPI_ERR_TAG);
    OK(MPI_Comm_call_errhandler(comm, MPI_ERR_ARG));
    CHECK_EQ(calls, 100);
    calls = 0;
    OK(MPI_Comm_free(&comm));
    OK(MPI_Comm_free(&twin));
}

/* Completion reports to the communicator of the request, with what the wait returns. */
static void from_requests(void)
{
    MPI_Errhandler errors;
    MPI_Comm comm;
    MPI_Request request;
    int in = 0, out[2] = {1, 2};
    OK(MPI_Comm_create_errhandler(handler, &errors));
    OK(MPI_Comm_dup(MPI_COMM_SELF, &comm));
    OK(MPI_Comm_set_errhandler(comm, errors));
    OK(MPI_Irecv(&in, 1, MPI_INT, 0, 1, comm, &request));
    MPI_Send(out, 2, MPI_INT, 0, 1, comm);
    calls = 0;
    FAILS(MPI_ERR_TRUNCATE, MPI_Wait(&request, MPI_STATUS_IGNORE));
    check_called(1, comm, MPI_ERR_TRUNCATE);
    OK(MPI_Comm_free(&comm));
    OK(MPI_Errhandler_free(&errors));
}

/* Errors that belong to no communicator go to MPI_COMM_SELF since MPI 4.0. */
static void without_communicator(void)
{
    MPI_Errhandler errors;
    MPI_Datatype type = MPI_DATATYPE_NULL;
    OK(MPI_Comm_create_errhandler(handler, &errors));
    OK(MPI_Comm_set_errhandler(MPI_COMM_SELF, errors));
    calls = 0;
    FAILS(MPI_ERR_TYPE, MPI_Type_commit(&type));
    check_called(1, MPI_COMM_SELF, MPI_ERR_TYPE);
    /* So do those of what is no communicator: the handler gets one that is. */
    FAILS(MPI_ERR_COMM, MPI_Send(&calls, 1, MPI_INT, 0, 0, MPI_COMM_NULL));
    check_called(1, MPI_COMM_SELF, MPI_ERR_COMM);
    FAILS(MPI_ERR_COMM, MPI_Comm_call_errhandler(MPI_COMM_NULL, MPI_ERR_ARG));
    check_called(1, MPI_COMM_SELF, MPI_ERR_COMM);
    FAILS(MPI_ERR_ERRHANDLER, MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRHANDLER_NULL));
    CHECK_EQ(calls, 0);
    OK(MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN));
    OK(MPI_Errhandler_free(&errors));
}

static void predefined(void)
{
    MPI_Errhandler found;
    MPI_Comm comm;
    OK(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
    OK(MPI_Comm_set_errhandler(comm, MPI_ERRORS_ARE_FATAL));
    OK(MPI_Comm_get_errhandler(comm, &found));
    CHECK(found == MPI_ERRORS_ARE_FATAL);
    OK(MPI_Comm_set_errhandler(comm, MPI_ERRORS_ABORT));
    OK(MPI_Comm_get_errhandler(comm, &found));
    CHECK(found == MPI_ERRORS_ABORT);
    OK(MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN));
    OK(MPI_Comm_call_errhandler(comm, MPI_ERR_OTHER));
    OK(MPI_Comm_free(&comm));
}

int main(int argc, char **argv)
{
    check_begin(&argc, &argv);
    life();
    from_requests();
    without_communicator();
    predefined();
    return check_end();
}
