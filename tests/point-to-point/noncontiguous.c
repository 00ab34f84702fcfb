/* Large messages whose data has holes, on either side or on both (MPI 5.0, sections 3.3 and 5.1): only the type
 * signatures must agree, and what lies in the holes must stay. */
#include "../check.h"

enum { BLOCKS = 60000 };

static void check_strided(const int *in, int stride, int from)
{
    int wrong = 0;
    for (int i = 0; i < BLOCKS * stride; i++) {
        int expected = i % stride == 0 ? from * 7 + i / stride : -1;
        wrong += in[i] != expected;
    }
    CHECK_EQ(wrong, 0);
}

static void exchange(int out_stride, int in_stride, int kind)
{
    int right = (rank + 1) % size, left = (rank + size - 1) % size;
    int *out = allocate(BLOCKS * (size_t)out_stride * sizeof *out);
    int *in = allocate(BLOCKS * (size_t)in_stride * sizeof *in);
    MPI_Datatype out_type, in_type;
    MPI_Request request;
    MPI_Status status;
    Count count;
    OK(MPI_Type_vector(BLOCKS, 1, out_stride, MPI_INT, &out_type));
    OK(MPI_Type_create_hvector(BLOCKS, 1, in_stride * (int)sizeof(int), MPI_INT, &in_type));
    OK(MPI_Type_commit(&out_type));
    OK(MPI_Type_commit(&in_type));
    for (int i = 0; i < BLOCKS * out_stride; i++) {
        out[i] = i % out_stride == 0 ? rank * 7 + i / out_stride : -2;
    }
    memset(in, 0xff, BLOCKS * (size_t)in_stride * sizeof *in);
    if (kind == 0) {
        OK(MPI_Irecv(in, 1, in_type, left, 1, MPI_COMM_WORLD, &request));
        OK(MPI_Ssend(out, 1, out_type, right, 1, MPI_COMM_WORLD));
    } else {
        OK(MPI_Isend(out, 1, out_type, right, 1, MPI_COMM_WORLD, &request));
        OK(MPI_Recv(in, 1, in_type, left, 1, MPI_COMM_WORLD, &status));
        OK(MPI_Get_count(&status, in_type, &count));
        CHECK_EQ(count, 1);
        OK(MPI_Get_elements(&status, in_type, &count));
        CHECK_EQ(count, BLOCKS);
    }
    OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    check_strided(in, in_stride, left);
    OK(MPI_Type_free(&out_type));
    OK(MPI_Type_free(&in_type));
    free(out);
    free(in);
}

/* A message that ends in the middle of the receive type: the rest of the buffer stays. */
static void partial(void)
{
    struct item {
        double value;
        int number;
    } in[1000], out[1000];
    Count blocks[2] = {1, 1}, count;
    Extent places[2] = {offsetof(struct item, value), offsetof(struct item, number)};
    MPI_Datatype types[2] = {MPI_DOUBLE, MPI_INT}, packed, item;
    MPI_Request request;
    MPI_Status status;
    OK(MPI_Type_create_struct(2, blocks, places, types, &packed));
    OK(MPI_Type_create_resized(packed, 0, sizeof(struct item), &item));
    OK(MPI_Type_free(&packed));
    OK(MPI_Type_commit(&item));
    for (int i = 0; i < 1000; i++) {
        out[i] = (struct item){i + 0.5, i};
        in[i] = (struct item){-1, -1};
    }
    OK(MPI_Isend(out, 333, item, rank, 2, MPI_COMM_WORLD, &request));
    OK(MPI_Recv(in, 1000, item, rank, 2, MPI_COMM_WORLD, &status));
    OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    OK(MPI_Get_count(&status, item, &count));
    CHECK_EQ(count, 333);
    OK(MPI_Get_elements(&status, item, &count));
    CHECK_EQ(count, 666);
    for (int i = 0; i < 1000; i++) {
        CHECK(in[i].value == (i < 333 ? i + 0.5 : -1) && in[i].number == (i < 333 ? i : -1));
    }
    OK(MPI_Type_free(&item));
}

/* Absolute addresses with MPI_BOTTOM, and a type whose blocks run backwards. */
static void bottom_and_backwards(void)
{
    int first = 1 + rank, second = 2 + rank, in[2] = {0, 0}, reversed[3] = {0, 0, 0}, ordered[3] = {7, 8, 9};
    MPI_Aint addresses[2];
    Count blocks[2] = {1, 1};
    Extent places[2];
    MPI_Datatype absolute, backwards;
    MPI_Request request;
    OK(MPI_Get_address(&first, &addresses[0]));
    OK(MPI_Get_address(&second, &addresses[1]));
    places[0] = addresses[0];
    places[1] = addresses[1];
    OK(MPI_Type_create_hindexed(2, blocks, places, MPI_INT, &absolute));
    OK(MPI_Type_commit(&absolute));
    OK(MPI_Isend(MPI_BOTTOM, 1, absolute, rank, 3, MPI_COMM_WORLD, &request));
    OK(MPI_Recv(in, 2, MPI_INT, rank, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    CHECK(in[0] == 1 + rank && in[1] == 2 + rank);
    OK(MPI_Type_free(&absolute));

    OK(MPI_Type_vector(3, 1, -1, MPI_INT, &backwards));
    OK(MPI_Type_commit(&backwards));
    OK(MPI_Isend(ordered, 3, MPI_INT, rank, 4, MPI_COMM_WORLD, &request));
    OK(MPI_Recv(&reversed[2], 1, backwards, rank, 4, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    CHECK(reversed[0] == 9 && reversed[1] == 8 && reversed[2] == 7);
    OK(MPI_Type_free(&backwards));
}

int main(int argc, char **argv)
{
    check_begin(&argc, &argv);
    for (int kind = 0; kind < 2; kind++) {
        exchange(3, 1, kind);
        exchange(1, 4, kind);
        exchange(2, 5, kind);
    }
    partial();
    bottom_and_backwards();
    return check_end();
}
