/* The part of with_c.f90 in C. */
#include <mpi.h>
#include <stdlib.h>

static void require(int holds)
{
    if (!holds) abort();
}

void attributes_in_c(int number, int key)
{
    MPI_Comm comm = MPI_Comm_fromint(number);
    int flag = 0, size = 0;
    void *value = NULL;
    MPI_Comm_size(comm, &size);
    MPI_Comm_get_attr(comm, key, &value, &flag);
    require(size >= 1 && flag && *(MPI_Aint *)value == 123456789012);
    MPI_Comm_set_attr(comm, key, (void *)4711);
}

static int deleted(MPI_Comm comm, int key, void *value, void *extra)
{
    (void)comm, (void)key;
    require(*(MPI_Aint *)value == 5 && extra == NULL);
    return MPI_SUCCESS;
}

int key_of_c(void)
{
    int key = MPI_KEYVAL_INVALID;
    MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, deleted, &key, NULL);
    return key;
}

void widths_in_c(int datatype, int win, int of_type, int of_win)
{
    int flag = 0;
    MPI_Aint *value = NULL;
    MPI_Type_get_attr(MPI_Type_fromint(datatype), of_type, &value, &flag);
    require(flag && *value == -7);
    MPI_Win_get_attr(MPI_Win_fromint(win), of_win, &value, &flag);
    require(flag && *value == -8);
    MPI_Type_set_attr(MPI_Type_fromint(datatype), of_type, (void *)17);
    MPI_Win_set_attr(MPI_Win_fromint(win), of_win, (void *)18);
}

void handles_in_c(const int *list, int *answers)
{
    MPI_Group group, of_win;
    MPI_Info info;
    MPI_Comm_size(MPI_Comm_f2c(list[0]), &answers[0]);
    MPI_Group_size(MPI_Group_f2c(list[1]), &answers[1]);
    MPI_Info_get_nkeys(MPI_Info_f2c(list[2]), &answers[2]);
    MPI_Type_size(MPI_Type_f2c(list[3]), &answers[3]);
    MPI_Win_get_group(MPI_Win_f2c(list[4]), &of_win);
    MPI_Group_compare(of_win, MPI_Group_f2c(list[1]), &answers[4]);
    answers[4] = answers[4] == MPI_IDENT;
    MPI_Group_free(&of_win);
    MPI_Aint extent = 0;
    MPI_File_get_type_extent(MPI_File_f2c(list[5]), MPI_INT, &extent);
    answers[5] = (int)extent;
    answers[6] = MPI_Session_get_info(MPI_Session_f2c(list[6]), &info) == MPI_SUCCESS;
    MPI_Info_free(&info);
    answers[7] = MPI_Op_f2c(list[7]) == MPI_SUM && MPI_Op_c2f(MPI_SUM) == list[7];
    answers[8] = MPI_Request_f2c(list[8]) == MPI_REQUEST_NULL;
    answers[9] = MPI_Message_f2c(list[9]) == MPI_MESSAGE_NULL;
    answers[10] = MPI_Errhandler_f2c(list[10]) == MPI_ERRORS_RETURN;
    require(MPI_Comm_c2f(MPI_Comm_f2c(list[0])) == list[0] && MPI_File_c2f(MPI_File_f2c(list[5])) == list[5]);
    require(MPI_Win_c2f(MPI_Win_f2c(list[4])) == list[4] && MPI_Type_c2f(MPI_Type_f2c(list[3])) == list[3]);
    MPI_Comm_group(MPI_COMM_SELF, &group);
    require(MPI_Group_f2c(MPI_Group_c2f(group)) == group);
    MPI_Group_free(&group);
}

void status_in_c(const MPI_Fint *f_status, MPI_F08_status *f08_status)
{
    MPI_Status status;
    int count = 0;
    MPI_Status_f2c(f_status, &status);
    MPI_Get_count(&status, MPI_INT, &count);
    require(status.MPI_SOURCE == 1 && status.MPI_TAG == 2 && status.MPI_ERROR == 3 && count == 4);
    status.MPI_TAG = 12;
    MPI_Status_set_elements(&status, MPI_INT, 5);
    MPI_Status_c2f08(&status, f08_status);
}

void error_in_c(int handler)
{
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_Errhandler_fromint(handler));
    int value = 0;
    MPI_Send(&value, 1, MPI_INT, 0, -5, MPI_COMM_SELF);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_ARE_FATAL);
}

static int handled;

static void handle(MPI_Comm *comm, int *code, ...)
{
    handled += *comm == MPI_COMM_SELF && *code == MPI_ERR_TOPOLOGY;
}

int handler_of_c(void)
{
    MPI_Errhandler handler;
    MPI_Comm_create_errhandler(handle, &handler);
    return MPI_Errhandler_toint(handler);
}

int handled_by_c(void)
{
    return handled;
}

static void add_three_times(void *in, void *inout, int *length, MPI_Datatype *datatype)
{
    require(*datatype == MPI_INT || *datatype == MPI_INTEGER);
    for (int i = 0; i < *length; i++) ((int *)inout)[i] += 3 * ((int *)in)[i];
}

int operation_in_c(int number, int *made)
{
    int in = 3, inout = 4;
    MPI_Op op;
    MPI_Reduce_local(&in, &inout, 1, MPI_INT, MPI_Op_fromint(number));
    MPI_Op_create(add_three_times, 1, &op);
    *made = MPI_Op_toint(op);
    return inout;
}

void complete_in_c(int number)
{
    MPI_Request request = MPI_Request_fromint(number);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
}
