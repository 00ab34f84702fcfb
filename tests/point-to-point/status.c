/* Status objects (MPI 5.0, sections 3.2.5 and 3.2.6): the fields after receives with and without wildcards, counts in
 * several datatypes, the accessor functions, and the empty status. */
#include "empty_status.h"

static void counts(void)
{
    char data[24] = {0}, in[24];
    MPI_Status status;
    MPI_Datatype pair, empty;
    Count count;
    MPI_Request send;

    OK(MPI_Isend(data, 20, MPI_BYTE, rank, 3, MPI_COMM_WORLD, &send));
    OK(MPI_Recv(in, 24, MPI_BYTE, rank, 3, MPI_COMM_WORLD, &status));
    OK(MPI_Wait(&send, MPI_STATUS_IGNORE));
    OK(MPI_Get_count(&status, MPI_BYTE, &count));
    CHECK_EQ(count, 20);
    OK(MPI_Get_count(&status, MPI_INT, &count));
    CHECK_EQ(count, 5);
    OK(MPI_Get_count(&status, MPI_DOUBLE, &count));
    CHECK_EQ(count, MPI_UNDEFINED);

    OK(MPI_Type_contiguous(2, MPI_INT, &pair));
    OK(MPI_Type_commit(&pair));
    OK(MPI_Get_count(&status, pair, &count));
    CHECK_EQ(count, MPI_UNDEFINED);
    OK(MPI_Get_elements(&status, pair, &count));
    CHECK_EQ(count, 5);
    OK(MPI_Type_free(&pair));

    OK(MPI_Isend(data, 0, MPI_BYTE, rank, 3, MPI_COMM_WORLD, &send));
    OK(MPI_Recv(in, 24, MPI_BYTE, rank, 3, MPI_COMM_WORLD, &status));
    OK(MPI_Wait(&send, MPI_STATUS_IGNORE));
    OK(MPI_Type_contiguous(0, MPI_INT, &empty));
    OK(MPI_Type_commit(&empty));
    OK(MPI_Get_count(&status, empty, &count));
    CHECK_EQ(count, 0);
    OK(MPI_Type_free(&empty));
}

static void accessors(void)
{
    MPI_Status status;
    MPI_Count wide;
    Count count;
    int value;

    memset(&status, 0, sizeof status);
    OK(MPI_Status_set_source(&status, 5));
    OK(MPI_Status_set_tag(&status, 99));
    OK(MPI_Status_set_error(&status, MPI_ERR_TAG));
    CHECK_EQ(status.MPI_SOURCE, 5);
    CHECK_EQ(status.MPI_TAG, 99);
    CHECK_EQ(status.MPI_ERROR, MPI_ERR_TAG);
    OK(MPI_Status_get_source(&status, &value));
    CHECK_EQ(value, 5);
    OK(MPI_Status_get_tag(&status, &value));
    CHECK_EQ(value, 99);
    OK(MPI_Status_get_error(&status, &value));
    CHECK_EQ(value, MPI_ERR_TAG);

    OK(MPI_Status_set_elements(&status, MPI_DOUBLE, 11));
    OK(MPI_Get_count(&status, MPI_DOUBLE, &count));
    CHECK_EQ(count, 11);
    OK(MPI_Get_elements(&status, MPI_DOUBLE, &count));
    CHECK_EQ(count, 11);
    OK(MPI_Status_set_elements_x(&status, MPI_BYTE, (MPI_Count)3 << 32));
    OK(MPI_Get_elements_x(&status, MPI_BYTE, &wide));
    CHECK(wide == (MPI_Count)3 << 32);
    OK(MPI_Status_set_cancelled(&status, 1));
    OK(MPI_Test_cancelled(&status, &value));
    CHECK_EQ(value, 1);
    OK(MPI_Status_set_cancelled(&status, 0));
    OK(MPI_Test_cancelled(&status, &value));
    CHECK_EQ(value, 0);
}

static void sources(void)
{
    MPI_Status status;
    int seen = 0, value;
    MPI_Request *sends = allocate((size_t)size * sizeof *sends);
    for (int to = 0; to < size; to++) {
        OK(MPI_Isend(&rank, 1, MPI_INT, to, 100 + rank, MPI_COMM_WORLD, &sends[to]));
    }
    for (int i = 0; i < size; i++) {
        OK(MPI_Recv(&value, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &status));
        CHECK_EQ(status.MPI_SOURCE, value);
        CHECK_EQ(status.MPI_TAG, 100 + value);
        CHECK((seen >> value & 1) == 0);
        seen |= 1 << value;
    }
    CHECK_EQ(seen, (1 << size) - 1);
    OK(MPI_Waitall(size, sends, MPI_STATUSES_IGNORE));
    free(sends);
}

int main(int argc, char **argv)
{
    MPI_Status status;
    MPI_Request null = MPI_REQUEST_NULL;
    check_begin(&argc, &argv);
    OK(MPI_Wait(&null, &status));
    check_empty(&status);
    counts();
    accessors();
    sources();
    return check_end();
}
