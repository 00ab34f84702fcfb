/* Send-receive operations (MPI 5.0, section 3.10), blocking and nonblocking, with separate buffers and in place. They
 * interoperate with plain sends and receives, and none deadlocks when all ranks shift in the same direction. */
#include "../check.h"

enum { COUNT_MAX = 300000 };

static void separate(int count, double *out, double *in, int left, int right)
{
    MPI_Status status;
    MPI_Request request;
    Count received;
    for (int i = 0; i < count; i++) {
        out[i] = rank * 1000.0 + i;
    }
    for (int nonblocking = 0; nonblocking < 2; nonblocking++) {
        memset(in, 0, (size_t)count * sizeof *in);
        if (nonblocking) {
            OK(MPI_Isendrecv(out, count, MPI_DOUBLE, right, rank, in, COUNT_MAX, MPI_DOUBLE, left, left, MPI_COMM_WORLD,
                             &request));
            OK(MPI_Wait(&request, &status));
        } else {
            OK(MPI_Sendrecv(out, count, MPI_DOUBLE, right, rank, in, COUNT_MAX, MPI_DOUBLE, left, left, MPI_COMM_WORLD,
                            &status));
        }
        CHECK_EQ(status.MPI_SOURCE, left);
        CHECK_EQ(status.MPI_TAG, left);
        OK(MPI_Get_count(&status, MPI_DOUBLE, &received));
        CHECK_EQ(received, count);
        for (int i = 0; i < count; i++) {
            if (in[i] != left * 1000.0 + i) {
                CHECK(in[i] == left * 1000.0 + i);
                break;
            }
        }
    }
}

static void in_place(int count, double *data, int left, int right)
{
    MPI_Status status;
    MPI_Request request;
    for (int nonblocking = 0; nonblocking < 2; nonblocking++) {
        fill(data, (size_t)count * sizeof *data, (unsigned)rank);
        if (nonblocking) {
            OK(MPI_Isendrecv_replace(data, count, MPI_DOUBLE, right, 5, left, MPI_ANY_TAG, MPI_COMM_WORLD, &request));
            OK(MPI_Wait(&request, &status));
        } else {
            OK(MPI_Sendrecv_replace(data, count, MPI_DOUBLE, right, 5, left, MPI_ANY_TAG, MPI_COMM_WORLD, &status));
        }
        CHECK_EQ(status.MPI_SOURCE, left);
        CHECK_EQ(status.MPI_TAG, 5);
        CHECK(filled(data, (size_t)count * sizeof *data, (unsigned)left));
    }
}

/* Every second element is exchanged, the others must stay. */
static void in_place_derived(int left, int right)
{
    MPI_Datatype every_second;
    int data[20];
    OK(MPI_Type_vector(10, 1, 2, MPI_INT, &every_second));
    OK(MPI_Type_commit(&every_second));
    for (int i = 0; i < 20; i++) {
        data[i] = rank * 100 + i;
    }
    OK(MPI_Sendrecv_replace(data, 1, every_second, right, 6, left, 6, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    for (int i = 0; i < 20; i++) {
        CHECK_EQ(data[i], (i % 2 ? rank : left) * 100 + i);
    }
    OK(MPI_Type_free(&every_second));
}

/* A chain with open ends: the ends talk to MPI_PROC_NULL. */
static void chain(void)
{
    int right = rank + 1 < size ? rank + 1 : MPI_PROC_NULL, left = rank > 0 ? rank - 1 : MPI_PROC_NULL;
    int in = -1, value = rank;
    MPI_Status status;
    OK(MPI_Sendrecv(&rank, 1, MPI_INT, right, 9, &in, 1, MPI_INT, left, 9, MPI_COMM_WORLD, &status));
    CHECK_EQ(in, rank > 0 ? rank - 1 : -1);
    CHECK_EQ(status.MPI_SOURCE, left);
    OK(MPI_Sendrecv_replace(&value, 1, MPI_INT, right, 9, left, 9, MPI_COMM_WORLD, &status));
    CHECK_EQ(value, rank > 0 ? rank - 1 : rank);
}

/* One side uses sendrecv, the other a plain receive and send. */
static void mixed(void)
{
    int partner = rank ^ 1, in = -1;
    MPI_Request request;
    if (partner < size && rank % 2 == 0) {
        OK(MPI_Sendrecv(&rank, 1, MPI_INT, partner, 11, &in, 1, MPI_INT, partner, 12, MPI_COMM_WORLD,
                        MPI_STATUS_IGNORE));
        CHECK_EQ(in, partner);
    } else if (partner < size) {
        OK(MPI_Irecv(&in, 1, MPI_INT, partner, 11, MPI_COMM_WORLD, &request));
        OK(MPI_Send(&rank, 1, MPI_INT, partner, 12, MPI_COMM_WORLD));
        OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
        CHECK_EQ(in, partner);
    }
}

int main(int argc, char **argv)
{
    static const int counts[] = {0, 1, 100, 10000, COUNT_MAX};
    double *out = allocate(COUNT_MAX * sizeof *out), *in = allocate(COUNT_MAX * sizeof *in);
    check_begin(&argc, &argv);
    for (int shift = 0; shift < size; shift++) {
        int right = (rank + shift) % size, left = (rank + size - shift) % size;
        for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
            separate(counts[i], out, in, left, right);
            in_place(counts[i], in, left, right);
        }
        in_place_derived(left, right);
    }
    chain();
    mixed();
    free(out);
    free(in);
    return check_end();
}
