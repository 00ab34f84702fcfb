/* Wrong arguments return the error class that the standard names for them (MPI 5.0, section 9.4), change nothing, and
 * leave the library working. */
#include "../check.h"

static int value, more[4];
static MPI_Request request;
static MPI_Status status;

static void messages(void)
{
    FAILS(MPI_ERR_COMM, MPI_Send(&value, 1, MPI_INT, 0, 0, MPI_COMM_NULL));
    FAILS(MPI_ERR_COUNT, MPI_Send(&value, -1, MPI_INT, 0, 0, MPI_COMM_WORLD));
    FAILS(MPI_ERR_TYPE, MPI_Send(&value, 1, MPI_DATATYPE_NULL, 0, 0, MPI_COMM_WORLD));
    FAILS(MPI_ERR_RANK, MPI_Send(&value, 1, MPI_INT, size, 0, MPI_COMM_WORLD));
    FAILS(MPI_ERR_RANK, MPI_Send(&value, 1, MPI_INT, -7, 0, MPI_COMM_WORLD));
    FAILS(MPI_ERR_RANK, MPI_Send(&value, 1, MPI_INT, MPI_ANY_SOURCE, 0, MPI_COMM_WORLD));
    FAILS(MPI_ERR_TAG, MPI_Send(&value, 1, MPI_INT, 0, -3, MPI_COMM_WORLD));
    FAILS(MPI_ERR_TAG, MPI_Send(&value, 1, MPI_INT, 0, MPI_ANY_TAG, MPI_COMM_WORLD));
    FAILS(MPI_ERR_BUFFER, MPI_Send(NULL, 1, MPI_INT, 0, 0, MPI_COMM_WORLD));
    FAILS(MPI_ERR_COMM, MPI_Recv(&value, 1, MPI_INT, 0, 0, MPI_COMM_NULL, &status));
    FAILS(MPI_ERR_COUNT, MPI_Recv(&value, -1, MPI_INT, 0, 0, MPI_COMM_WORLD, &status));
    FAILS(MPI_ERR_RANK, MPI_Recv(&value, 1, MPI_INT, size + 3, 0, MPI_COMM_WORLD, &status));
    FAILS(MPI_ERR_TAG, MPI_Recv(&value, 1, MPI_INT, 0, -3, MPI_COMM_WORLD, &status));
    FAILS(MPI_ERR_TYPE, MPI_Irecv(&value, 1, MPI_DATATYPE_NULL, 0, 0, MPI_COMM_WORLD, &request));
    FAILS(MPI_ERR_RANK, MPI_Isend(&value, 1, MPI_INT, size, 0, MPI_COMM_WORLD, &request));
    FAILS(MPI_ERR_COUNT, MPI_Ssend(&value, -1, MPI_INT, 0, 0, MPI_COMM_WORLD));
    FAILS(MPI_ERR_TAG, MPI_Rsend(&value, 1, MPI_INT, 0, -1, MPI_COMM_WORLD));
    FAILS(MPI_ERR_RANK, MPI_Bsend(&value, 1, MPI_INT, size, 0, MPI_COMM_WORLD));
    FAILS(MPI_ERR_RANK, MPI_Send_init(&value, 1, MPI_INT, size, 0, MPI_COMM_WORLD, &request));
    FAILS(MPI_ERR_TAG, MPI_Recv_init(&value, 1, MPI_INT, 0, -9, MPI_COMM_WORLD, &request));
    FAILS(MPI_ERR_RANK, MPI_Probe(size, 0, MPI_COMM_WORLD, &status));
    FAILS(MPI_ERR_COMM, MPI_Iprobe(0, 0, MPI_COMM_NULL, &value, &status));
}

static void uncommitted(void)
{
    MPI_Datatype type;
    OK(MPI_Type_contiguous(2, MPI_INT, &type));
    FAILS(MPI_ERR_TYPE, MPI_Send(more, 1, type, 0, 0, MPI_COMM_WORLD));
    FAILS(MPI_ERR_TYPE, MPI_Irecv(more, 1, type, 0, 0, MPI_COMM_WORLD, &request));
    FAILS(MPI_ERR_TYPE, MPI_Bcast(more, 1, type, 0, MPI_COMM_SELF));
    OK(MPI_Type_free(&type));
}

static void requests(void)
{
    MPI_Request null = MPI_REQUEST_NULL, plain;
    MPI_Message no_message = MPI_MESSAGE_NULL;
    int flag;
    FAILS(MPI_ERR_REQUEST, MPI_Start(&null));
    FAILS(MPI_ERR_REQUEST, MPI_Request_free(&null));
    FAILS(MPI_ERR_REQUEST, MPI_Cancel(&null));
    OK(MPI_Irecv(&value, 1, MPI_INT, rank, 30, MPI_COMM_WORLD, &plain));
    FAILS(MPI_ERR_REQUEST, MPI_Start(&plain));
    OK(MPI_Cancel(&plain));
    OK(MPI_Wait(&plain, &status));
    FAILS(MPI_ERR_REQUEST, MPI_Mrecv(&value, 1, MPI_INT, &no_message, &status));
    CHECK(MPI_Waitall(-1, NULL, MPI_STATUSES_IGNORE) != MPI_SUCCESS);
    CHECK(MPI_Testany(-1, NULL, &value, &flag, MPI_STATUS_IGNORE) != MPI_SUCCESS);
}

static void collectives(void)
{
    FAILS(MPI_ERR_COMM, MPI_Barrier(MPI_COMM_NULL));
    FAILS(MPI_ERR_ROOT, MPI_Bcast(&value, 1, MPI_INT, size, MPI_COMM_WORLD));
    FAILS(MPI_ERR_ROOT, MPI_Bcast(&value, 1, MPI_INT, -1, MPI_COMM_WORLD));
    FAILS(MPI_ERR_COUNT, MPI_Bcast(&value, -1, MPI_INT, 0, MPI_COMM_WORLD));
    FAILS(MPI_ERR_TYPE, MPI_Bcast(&value, 1, MPI_DATATYPE_NULL, 0, MPI_COMM_WORLD));
    FAILS(MPI_ERR_ROOT, MPI_Gather(&value, 1, MPI_INT, more, 1, MPI_INT, size, MPI_COMM_WORLD));
    FAILS(MPI_ERR_OP, MPI_Allreduce(&value, more, 1, MPI_INT, MPI_OP_NULL, MPI_COMM_WORLD));
    FAILS(MPI_ERR_OP, MPI_Reduce(&value, more, 1, MPI_INT, MPI_OP_NULL, 0, MPI_COMM_WORLD));
    FAILS(MPI_ERR_COUNT, MPI_Scan(&value, more, -1, MPI_INT, MPI_SUM, MPI_COMM_WORLD));
    FAILS(MPI_ERR_BUFFER, MPI_Bcast(MPI_IN_PLACE, 1, MPI_INT, 0, MPI_COMM_WORLD));
    FAILS(MPI_ERR_BUFFER, MPI_Allreduce(&value, &value, 1, MPI_INT, MPI_SUM, MPI_COMM_SELF));
}

static void datatypes(void)
{
    MPI_Datatype type = MPI_DATATYPE_NULL;
    Count sizes[1] = {4}, subsizes[1] = {5}, starts[1] = {0};
    Extent lb, extent;
    FAILS(MPI_ERR_TYPE, MPI_Type_commit(&type));
    FAILS(MPI_ERR_TYPE, MPI_Type_free(&type));
    FAILS(MPI_ERR_TYPE, MPI_Type_contiguous(2, MPI_DATATYPE_NULL, &type));
    FAILS(MPI_ERR_COUNT, MPI_Type_contiguous(-2, MPI_INT, &type));
    FAILS(MPI_ERR_TYPE, MPI_Type_get_extent(MPI_DATATYPE_NULL, &lb, &extent));
    CHECK(MPI_Type_create_subarray(1, sizes, subsizes, starts, MPI_ORDER_C, MPI_INT, &type) != MPI_SUCCESS);
    CHECK(MPI_Type_create_subarray(1, sizes, sizes, starts, 99, MPI_INT, &type) != MPI_SUCCESS);
    type = MPI_INT;
    FAILS(MPI_ERR_TYPE, MPI_Type_free(&type));
}

static void objects(void)
{
    MPI_Comm comm = MPI_COMM_NULL;
    MPI_Group group = MPI_GROUP_NULL;
    MPI_Op op = MPI_SUM;
    MPI_Info info = MPI_INFO_NULL;
    MPI_Errhandler errors = MPI_ERRHANDLER_NULL;
    int flag, keyval = MPI_KEYVAL_INVALID;
    void *found;
    FAILS(MPI_ERR_COMM, MPI_Comm_size(MPI_COMM_NULL, &value));
    FAILS(MPI_ERR_COMM, MPI_Comm_dup(MPI_COMM_NULL, &comm));
    FAILS(MPI_ERR_COMM, MPI_Comm_free(&comm));
    comm = MPI_COMM_WORLD;
    FAILS(MPI_ERR_COMM, MPI_Comm_free(&comm));
    FAILS(MPI_ERR_GROUP, MPI_Group_size(MPI_GROUP_NULL, &value));
    FAILS(MPI_ERR_GROUP, MPI_Group_free(&group));
    FAILS(MPI_ERR_OP, MPI_Op_free(&op));
    FAILS(MPI_ERR_INFO, MPI_Info_free(&info));
    FAILS(MPI_ERR_INFO, MPI_Info_set(MPI_INFO_NULL, "a", "b"));
    CHECK(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRHANDLER_NULL) != MPI_SUCCESS);
    CHECK(MPI_Errhandler_free(&errors) != MPI_SUCCESS);
    FAILS(MPI_ERR_KEYVAL, MPI_Comm_free_keyval(&keyval));
    FAILS(MPI_ERR_KEYVAL, MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_KEYVAL_INVALID, &found, &flag));
    FAILS(MPI_ERR_ARG, MPI_Comm_split(MPI_COMM_SELF, -5, 0, &comm));
}

int main(int argc, char **argv)
{
    int in = -1;
    check_begin(&argc, &argv);
    messages();
    uncommitted();
    requests();
    collectives();
    datatypes();
    objects();
    OK(MPI_Sendrecv(&rank, 1, MPI_INT, (rank + 1) % size, 1, &in, 1, MPI_INT, (rank + size - 1) % size, 1,
                    MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    CHECK_EQ(in, (rank + size - 1) % size);
    OK(MPI_Barrier(MPI_COMM_WORLD));
    return check_end();
}
