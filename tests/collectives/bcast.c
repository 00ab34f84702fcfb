/* Broadcast (MPI 5.0, section 6.4): every root, sizes on both sides of every algorithm switch, types with holes,
 * different types on root and others, zero counts, roots that run ahead; and barriers between. */
#include "../check.h"

static void contiguous(int root, size_t bytes, unsigned char *data)
{
    if (rank == root) {
        fill(data, bytes, (unsigned)root + (unsigned)bytes);
    } else {
        memset(data, 0, bytes);
    }
    OK(MPI_Bcast(data, (Count)bytes, MPI_BYTE, root, MPI_COMM_WORLD));
    CHECK(filled(data, bytes, (unsigned)root + (unsigned)bytes));
}

/* The root sends every third int, the others receive every second one. */
static void holes(int root, int count)
{
    int stride = rank == root ? 3 : 2, *data = allocate((size_t)(count * stride) * sizeof *data), wrong = 0;
    MPI_Datatype type;
    OK(MPI_Type_vector(count, 1, stride, MPI_INT, &type));
    OK(MPI_Type_commit(&type));
    for (int i = 0; i < count * stride; i++) {
        data[i] = rank == root && i % stride == 0 ? i / stride : -1;
    }
    OK(MPI_Bcast(data, 1, type, root, MPI_COMM_WORLD));
    for (int i = 0; i < count * stride; i++) {
        wrong += data[i] != (i % stride == 0 ? i / stride : -1);
    }
    CHECK_EQ(wrong, 0);
    OK(MPI_Type_free(&type));
    free(data);
}

/* Collectives on one communicator must not be confused with each other or with messages of the user. */
static void in_a_row(void)
{
    int out = -rank, in = 1;
    MPI_Request send, receive;
    OK(MPI_Irecv(&in, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &receive));
    for (int i = 0; i < 100; i++) {
        int value = rank == i % size ? i : -1;
        OK(MPI_Bcast(&value, 1, MPI_INT, i % size, MPI_COMM_WORLD));
        CHECK_EQ(value, i);
        if (i % 10 == 0) {
            OK(MPI_Barrier(MPI_COMM_WORLD));
        }
    }
    OK(MPI_Isend(&out, 1, MPI_INT, (rank + 1) % size, 0, MPI_COMM_WORLD, &send));
    OK(MPI_Wait(&receive, MPI_STATUS_IGNORE));
    OK(MPI_Wait(&send, MPI_STATUS_IGNORE));
    CHECK_EQ(in, -((rank + size - 1) % size));
}

enum { AHEAD = 12, AHEAD_BYTES = 20000 };

/* The root is done with many broadcasts before the others begin; a message of the program has overtaken their receives. */
static void ahead(int root)
{
    unsigned char *data = allocate((size_t)AHEAD * AHEAD_BYTES);
    MPI_Request requests[AHEAD];
    if (rank != root) {
        OK(MPI_Recv(NULL, 0, MPI_INT, root, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    }
    for (int i = 0; i < AHEAD; i++) {
        unsigned char *part = data + (size_t)i * AHEAD_BYTES;
        if (rank == root) {
            fill(part, AHEAD_BYTES, (unsigned)i);
        } else {
            memset(part, 0, AHEAD_BYTES);
        }
        OK(MPI_Ibcast(part, AHEAD_BYTES, MPI_BYTE, root, MPI_COMM_WORLD, &requests[i]));
    }
    for (int peer = 0; peer < size && rank == root; peer++) {
        if (peer != root) {
            OK(MPI_Send(NULL, 0, MPI_INT, peer, 5, MPI_COMM_WORLD));
        }
    }
    OK(MPI_Waitall(AHEAD, requests, MPI_STATUSES_IGNORE));
    for (int i = 0; i < AHEAD; i++) {
        CHECK(filled(data + (size_t)i * AHEAD_BYTES, AHEAD_BYTES, (unsigned)i));
    }
    free(data);
}

int main(int argc, char **argv)
{
    static const size_t sizes[] = {0, 1, 100, 2048, 12289, 100000, 1 << 20, 4000001};
    unsigned char *data = allocate(4000001);
    check_begin(&argc, &argv);
    for (int root = 0; root < size; root++) {
        for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
            contiguous(root, sizes[i], data);
        }
        holes(root, 10);
        holes(root, 2000);
        holes(root, 20000);
        ahead(root);
    }
    in_a_row();
    free(data);
    return check_end();
}
