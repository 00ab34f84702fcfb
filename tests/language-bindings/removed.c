// Names that are not part of the standard ABI: functions that MPI 3.0 removed, which programs written long ago still call, and
// Fortran's handles and statuses (section 19.3). The library with MPICH's ABI has them; for the standard ABI, mpi.h makes them.
#include "../check.h"

#include <stddef.h>

// Removed functions have no twins with large counts.
#undef MPI_Type_create_hindexed
#undef MPI_Type_create_hvector
#undef MPI_Type_create_struct

#ifdef MPICH
// Headers do not declare them any more.
int MPI_Address(void *, MPI_Aint *);
int MPI_Errhandler_create(MPI_Comm_errhandler_function *, MPI_Errhandler *);
int MPI_Errhandler_get(MPI_Comm, MPI_Errhandler *);
int MPI_Errhandler_set(MPI_Comm, MPI_Errhandler);
int MPI_Type_extent(MPI_Datatype, MPI_Aint *);
int MPI_Type_hindexed(int, int *, MPI_Aint *, MPI_Datatype, MPI_Datatype *);
int MPI_Type_hvector(int, int, MPI_Aint, MPI_Datatype, MPI_Datatype *);
int MPI_Type_lb(MPI_Datatype, MPI_Aint *);
int MPI_Type_struct(int, int *, MPI_Aint *, MPI_Datatype *, MPI_Datatype *);
int MPI_Type_ub(MPI_Datatype, MPI_Aint *);
#endif

struct pair {
    int first;
    double second;
};

static void check_datatypes(void)
{
    struct pair pair = {0, 0};
    MPI_Aint first, second, extent, lb = 0, ub = 0;
    OK(MPI_Address(&pair.first, &first));
    OK(MPI_Address(&pair.second, &second));
    CHECK_EQ(second - first, (MPI_Aint)offsetof(struct pair, second));

    int lengths[2] = {1, 1};
    MPI_Aint places[2] = {0, second - first};
    MPI_Datatype types[2] = {MPI_INT, MPI_DOUBLE}, type;
    OK(MPI_Type_struct(2, lengths, places, types, &type));
    OK(MPI_Type_extent(type, &extent));
    CHECK_EQ(extent, (MPI_Aint)sizeof pair);
    OK(MPI_Type_free(&type));

    places[0] = 8;
    places[1] = 24;
    OK(MPI_Type_hindexed(2, lengths, places, MPI_INT, &type));
    OK(MPI_Type_lb(type, &lb));
    OK(MPI_Type_ub(type, &ub));
    CHECK_EQ(lb, 8);
    CHECK_EQ(ub, 28);
    FAILS(MPI_ERR_ARG, MPI_Type_lb(type, NULL));
    FAILS(MPI_ERR_ARG, MPI_Type_ub(type, NULL));
    FAILS(MPI_ERR_ARG, MPI_Type_extent(type, NULL));
    OK(MPI_Type_free(&type));

    OK(MPI_Type_hvector(3, 1, 16, MPI_INT, &type));
    OK(MPI_Type_extent(type, &extent));
    CHECK_EQ(extent, 36);
    OK(MPI_Type_free(&type));
}

static int called;

static void handler(MPI_Comm *comm, int *code, ...)
{
    (void)comm;
    called = *code;
}

static void check_error_handlers(void)
{
    MPI_Errhandler made, found;
    OK(MPI_Errhandler_create(handler, &made));
    OK(MPI_Errhandler_set(MPI_COMM_SELF, made));
    OK(MPI_Errhandler_get(MPI_COMM_SELF, &found));
    CHECK(found == made);
    CHECK(MPI_Comm_call_errhandler(MPI_COMM_SELF, MPI_ERR_OTHER) == MPI_SUCCESS);
    CHECK_EQ(called, MPI_ERR_OTHER);
    OK(MPI_Errhandler_set(MPI_COMM_SELF, MPI_ERRORS_ARE_FATAL));
    OK(MPI_Errhandler_free(&made));
    OK(MPI_Errhandler_free(&found));
}

static void check_statuses(void)
{
    int sent = 5, received = 0, flag;
    Count count;
    MPI_Status status, back;
    MPI_Fint words[MPI_F_STATUS_SIZE];
    OK(MPI_Sendrecv(&sent, 1, MPI_INT, 0, 7, &received, 1, MPI_INT, 0, 7, MPI_COMM_SELF, &status));
    OK(MPI_Status_c2f(&status, words));
    CHECK_EQ(words[MPI_F_TAG], 7);
    CHECK_EQ(words[MPI_F_SOURCE], 0);
    OK(MPI_Status_f2c(words, &back));
    OK(MPI_Get_count(&back, MPI_INT, &count));
    CHECK_EQ(count, 1);
    OK(MPI_Test_cancelled(&back, &flag));
    CHECK(!flag);

    MPI_F08_status described;
    OK(MPI_Status_c2f08(&status, &described));
    CHECK_EQ(described.MPI_TAG, 7);
    OK(MPI_Status_f082c(&described, &back));
    OK(MPI_Get_count(&back, MPI_INT, &count));
    CHECK_EQ(count, 1);
    OK(MPI_Status_f2f08(words, &described));
    CHECK_EQ(described.MPI_TAG, 7);
    OK(MPI_Status_f082f(&described, words));
    CHECK_EQ(words[MPI_F_TAG], 7);
}

static void check_handles(void)
{
    MPI_Datatype type = MPI_Type_f2c(MPI_Type_c2f(MPI_DOUBLE));
    MPI_Group group;
    MPI_Request request;
    int flag;
    CHECK(type == MPI_DOUBLE);
    CHECK(MPI_Comm_f2c(MPI_Comm_c2f(MPI_COMM_WORLD)) == MPI_COMM_WORLD);
    CHECK(MPI_Comm_f2c(MPI_Comm_c2f(MPI_COMM_NULL)) == MPI_COMM_NULL);
    CHECK(MPI_Op_f2c(PMPI_Op_c2f(MPI_SUM)) == MPI_SUM);
    CHECK(MPI_Info_f2c(MPI_Info_c2f(MPI_INFO_ENV)) == MPI_INFO_ENV);
    CHECK(MPI_Errhandler_f2c(MPI_Errhandler_c2f(MPI_ERRORS_RETURN)) == MPI_ERRORS_RETURN);
    CHECK(MPI_File_f2c(MPI_File_c2f(MPI_FILE_NULL)) == MPI_FILE_NULL);
    CHECK(MPI_Win_f2c(MPI_Win_c2f(MPI_WIN_NULL)) == MPI_WIN_NULL);
    CHECK(MPI_Message_f2c(MPI_Message_c2f(MPI_MESSAGE_NO_PROC)) == MPI_MESSAGE_NO_PROC);
    CHECK(MPI_Session_f2c(MPI_Session_c2f(MPI_SESSION_NULL)) == MPI_SESSION_NULL);
    OK(MPI_Comm_group(MPI_COMM_WORLD, &group));
    CHECK(MPI_Group_f2c(MPI_Group_c2f(group)) == group);
    OK(MPI_Group_free(&group));
    OK(MPI_Irecv(&flag, 1, MPI_INT, MPI_PROC_NULL, 0, MPI_COMM_WORLD, &request));
    request = MPI_Request_f2c(MPI_Request_c2f(request));
    OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
}

static void check_attributes(void)
{
    int key, value = 0, flag;
    void *found = NULL;
    MPI_Comm copy;
    OK(MPI_Comm_create_keyval(MPI_COMM_DUP_FN, MPI_COMM_NULL_DELETE_FN, &key, NULL));
    OK(MPI_Comm_set_attr(MPI_COMM_SELF, key, &value));
    OK(MPI_Comm_dup(MPI_COMM_SELF, &copy));
    OK(MPI_Comm_get_attr(copy, key, &found, &flag));
    CHECK(flag && found == &value);
    OK(MPI_Comm_free(&copy));
    OK(MPI_Comm_delete_attr(MPI_COMM_SELF, key));
    OK(MPI_Comm_free_keyval(&key));
}

int main(int argc, char **argv)
{
    check_begin(&argc, &argv);
    check_datatypes();
    check_error_handlers();
    check_statuses();
    check_handles();
    check_attributes();
    return check_end();
}
