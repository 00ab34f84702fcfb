/* A program from before MPI 4.0 gives an error handler to MPI_COMM_WORLD only. It gets the errors of calls that belong to no
 * object, as long as the program has given none to MPI_COMM_SELF, where they go since then (MPI 5.0, section 9.3). */
#include "../check.h"

static int calls;

static void handler(MPI_Comm *comm, int *code, ...)
{
    (void)code;
    CHECK(*comm == MPI_COMM_WORLD);
    calls++;
}

int main(int argc, char **argv)
{
    MPI_Datatype type = MPI_DATATYPE_NULL;
    MPI_Errhandler errors;
    int count;
    OK(MPI_Init(&argc, &argv));
    OK(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN));
    OK(MPI_Comm_rank(MPI_COMM_WORLD, &rank));
    FAILS(MPI_ERR_TYPE, MPI_Type_commit(&type));
    FAILS(MPI_ERR_GROUP, MPI_Group_size(MPI_GROUP_NULL, &count));
    FAILS(MPI_ERR_COMM, MPI_Comm_size(MPI_COMM_NULL, &count));
    OK(MPI_Comm_create_errhandler(handler, &errors));
    OK(MPI_Comm_set_errhandler(MPI_COMM_WORLD, errors));
    MPI_Type_commit(&type);
    CHECK_EQ(calls, 1);
    OK(MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN));
    FAILS(MPI_ERR_TYPE, MPI_Type_commit(&type));
    CHECK_EQ(calls, 1);
    OK(MPI_Errhandler_free(&errors));
    return check_end();
}
