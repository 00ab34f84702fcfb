/* Messages to oneself, on MPI_COMM_SELF and on MPI_COMM_WORLD: same matching, same order, same modes. */
#include "../check.h"

static void both_orders(MPI_Comm comm, int me, size_t bytes, unsigned char *out, unsigned char *in)
{
    MPI_Request send, receive;
    MPI_Status status;
    fill(out, bytes, 3);
    memset(in, 0, bytes);
    OK(MPI_Irecv(in, (Count)bytes, MPI_BYTE, me, 4, comm, &receive));
    OK(MPI_Send(out, (Count)bytes, MPI_BYTE, me, 4, comm));
    OK(MPI_Wait(&receive, &status));
    CHECK_EQ(status.MPI_SOURCE, me);
    CHECK(filled(in, bytes, 3));

    memset(in, 0, bytes);
    OK(MPI_Isend(out, (Count)bytes, MPI_BYTE, me, 5, comm, &send));
    OK(MPI_Recv(in, (Count)bytes, MPI_BYTE, MPI_ANY_SOURCE, 5, comm, &status));
    OK(MPI_Wait(&send, MPI_STATUS_IGNORE));
    CHECK(filled(in, bytes, 3));

    memset(in, 0, bytes);
    OK(MPI_Sendrecv(out, (Count)bytes, MPI_BYTE, me, 6, in, (Count)bytes, MPI_BYTE, me, 6, comm, &status));
    CHECK(filled(in, bytes, 3));
}

static void types_differ(void)
{
    MPI_Datatype columns;
    int matrix[4][5], column[4], flag = 0;
    MPI_Request request;
    for (int i = 0; i < 20; i++) {
        matrix[i / 5][i % 5] = i;
    }
    OK(MPI_Type_vector(4, 1, 5, MPI_INT, &columns));
    OK(MPI_Type_commit(&columns));
    OK(MPI_Isend(&matrix[0][2], 1, columns, 0, 1, MPI_COMM_SELF, &request));
    OK(MPI_Recv(column, 4, MPI_INT, 0, 1, MPI_COMM_SELF, MPI_STATUS_IGNORE));
    OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    for (int i = 0; i < 4; i++) {
        CHECK_EQ(column[i], 5 * i + 2);
        column[i] = 100 + i;
    }
    OK(MPI_Irecv(&matrix[0][3], 1, columns, 0, 1, MPI_COMM_SELF, &request));
    OK(MPI_Ssend(column, 4, MPI_INT, 0, 1, MPI_COMM_SELF));
    while (!flag) {
        OK(MPI_Test(&request, &flag, MPI_STATUS_IGNORE));
    }
    for (int i = 0; i < 20; i++) {
        CHECK_EQ(matrix[i / 5][i % 5], i % 5 == 3 ? 100 + i / 5 : i);
    }
    OK(MPI_Type_free(&columns));
}

int main(int argc, char **argv)
{
    static const size_t sizes[] = {0, 1, 1000, 100000, 4 << 20};
    unsigned char *out = allocate(4 << 20), *in = allocate(4 << 20);
    check_begin(&argc, &argv);
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        both_orders(MPI_COMM_SELF, 0, sizes[i], out, in);
        both_orders(MPI_COMM_WORLD, rank, sizes[i], out, in);
    }
    types_differ();
    free(out);
    free(in);
    return check_end();
}
