/* The shared file pointer (section 14.4.4): every access gets a place of its own, and ordered ones in the order of ranks. */
#include "file.h"

enum { ROUNDS = 30 };

/* Each process writes records of its own length; none may be lost or mixed. */
static void nobody_loses(MPI_File file)
{
    int length = 2 + rank % 3, record[4], total = 0, all;
    MPI_Status status;
    MPI_Request request;
    MPI_Offset position;
    OK(MPI_File_set_view(file, 0, MPI_INT, MPI_INT, "native", MPI_INFO_NULL));
    for (int round = 0; round < ROUNDS; round++) {
        record[0] = length;
        record[1] = record[2] = record[3] = 1000 * rank + round;
        if (round % 2) {
            OK(MPI_File_write_shared(file, record, length, MPI_INT, &status));
        } else {
            OK(MPI_File_iwrite_shared(file, record, length, MPI_INT, &request));
            OK(MPI_Wait(&request, &status));
        }
        CHECK_EQ(count_of(&status, MPI_INT), length);
        total += length;
    }
    OK(MPI_Allreduce(&total, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD));
    OK(MPI_File_get_position_shared(file, &position));
    CHECK_EQ(position, all);
    int *values = allocate(sizeof(int) * (size_t)all), *next = allocate(sizeof(int) * (size_t)size);
    int seen = 0;
    memset(next, 0, sizeof(int) * (size_t)size);
    OK(MPI_File_read_at_all(file, 0, values, all, MPI_INT, &status));
    CHECK_EQ(count_of(&status, MPI_INT), all);
    for (int at = 0; at < all && values[at] >= 2 && values[at] <= 4; at += values[at], seen++) {
        int owner = values[at + 1] / 1000;
        CHECK(owner < size && values[at + 1] % 1000 == next[owner]++);
        CHECK_EQ(values[at], 2 + owner % 3);
        CHECK_EQ(values[at + values[at] - 1], values[at + 1]);
    }
    CHECK_EQ(seen, ROUNDS * size);
    free(next);
    free(values);
}

static void everything_is_read_once(MPI_File file)
{
    int value;
    MPI_Status status;
    MPI_Request request;
    long long sum = 0, all;
    OK(MPI_File_set_view(file, 0, MPI_INT, MPI_INT, "native", MPI_INFO_NULL));
    OK(MPI_File_set_size(file, 0));
    for (int i = 0; i < 10; i++) {
        value = 10 * rank + i;
        OK(MPI_File_write_at(file, value, &value, 1, MPI_INT, MPI_STATUS_IGNORE));
    }
    OK(MPI_File_seek_shared(file, 0, MPI_SEEK_SET));
    for (int i = 0; i < 10; i++) {
        value = -1;
        if (i % 2) {
            OK(MPI_File_read_shared(file, &value, 1, MPI_INT, &status));
        } else {
            OK(MPI_File_iread_shared(file, &value, 1, MPI_INT, &request));
            OK(MPI_Wait(&request, &status));
        }
        CHECK_EQ(count_of(&status, MPI_INT), 1);
        sum += value;
    }
    OK(MPI_Allreduce(&sum, &all, 1, MPI_LONG_LONG, MPI_SUM, MPI_COMM_WORLD));
    CHECK_EQ(all, 10LL * size * (10 * size - 1) / 2);
}

static void in_the_order_of_ranks(MPI_File file)
{
    int out[8], in[8], before = 0, mine = 1 + rank % 3;
    MPI_Status status;
    MPI_Offset position;
    for (int other = 0; other < rank; other++) {
        before += 1 + other % 3;
    }
    OK(MPI_File_set_size(file, 0));
    OK(MPI_File_set_view(file, 4, MPI_INT, MPI_INT, "native", MPI_INFO_NULL));
    for (int i = 0; i < mine; i++) {
        out[i] = 100 * rank + i;
    }
    OK(MPI_File_write_ordered(file, out, mine, MPI_INT, &status));
    CHECK_EQ(count_of(&status, MPI_INT), mine);
    OK(MPI_File_get_position_shared(file, &position));
    wait_for_all();
    OK(MPI_File_write_ordered_begin(file, out, mine, MPI_INT));
    OK(MPI_File_write_ordered_end(file, out, &status));
    CHECK_EQ(count_of(&status, MPI_INT), mine);
    wait_for_all();
    for (int round = 0; round < 2; round++) {
        OK(MPI_File_read_at(file, position * round + before, in, mine, MPI_INT, &status));
        CHECK(memcmp(in, out, sizeof(int) * (size_t)mine) == 0);
    }
    OK(MPI_File_seek_shared(file, position, MPI_SEEK_SET));
    OK(MPI_File_read_ordered(file, in, mine, MPI_INT, &status));
    CHECK(memcmp(in, out, sizeof(int) * (size_t)mine) == 0);
    OK(MPI_File_seek_shared(file, -position, MPI_SEEK_END));
    memset(in, 0, sizeof in);
    OK(MPI_File_read_ordered_begin(file, in, mine, MPI_INT));
    OK(MPI_File_read_ordered_end(file, in, &status));
    CHECK(memcmp(in, out, sizeof(int) * (size_t)mine) == 0);
    OK(MPI_File_read_ordered(file, in, 1, MPI_INT, &status));
    CHECK_EQ(count_of(&status, MPI_INT), 0);
    wait_for_all();
}

static void seeking(MPI_File file)
{
    MPI_Offset position;
    OK(MPI_File_seek_shared(file, 7, MPI_SEEK_SET));
    OK(MPI_File_seek_shared(file, -3, MPI_SEEK_CUR));
    OK(MPI_File_get_position_shared(file, &position));
    CHECK_EQ(position, 4);
    wait_for_all();
    FAILS(MPI_ERR_ARG, MPI_File_seek_shared(file, -5, MPI_SEEK_CUR));
    FAILS(MPI_ERR_ARG, MPI_File_seek_shared(file, 0, 3));
    if (size > 1) {
        FAILS(MPI_ERR_NOT_SAME, MPI_File_seek_shared(file, rank, MPI_SEEK_SET));
    }
    OK(MPI_File_get_position_shared(file, &position));
    CHECK_EQ(position, 4);
    wait_for_all();
}

/* Files that are only accessed in sequence have no other pointer. */
static void sequential(void)
{
    MPI_File file;
    int value = rank;
    MPI_Offset position;
    MPI_Status status;
    OK(MPI_File_open(MPI_COMM_WORLD, path_of("sequence"), MPI_MODE_CREATE | MPI_MODE_WRONLY | MPI_MODE_SEQUENTIAL,
                     MPI_INFO_NULL, &file));
    OK(MPI_File_write_ordered(file, &value, 1, MPI_INT, &status));
    /* The view begins where the pointer is. */
    OK(MPI_File_set_view(file, MPI_DISPLACEMENT_CURRENT, MPI_INT, MPI_INT, "native", MPI_INFO_NULL));
    OK(MPI_File_write_ordered(file, &value, 1, MPI_INT, &status));
    FAILS(MPI_ERR_UNSUPPORTED_OPERATION, MPI_File_seek(file, 0, MPI_SEEK_SET));
    FAILS(MPI_ERR_UNSUPPORTED_OPERATION, MPI_File_seek_shared(file, 0, MPI_SEEK_SET));
    FAILS(MPI_ERR_UNSUPPORTED_OPERATION, MPI_File_get_position(file, &position));
    FAILS(MPI_ERR_UNSUPPORTED_OPERATION, MPI_File_get_position_shared(file, &position));
    FAILS(MPI_ERR_UNSUPPORTED_OPERATION, MPI_File_get_byte_offset(file, 0, &position));
    FAILS(MPI_ERR_UNSUPPORTED_OPERATION, MPI_File_write(file, &value, 1, MPI_INT, &status));
    FAILS(MPI_ERR_UNSUPPORTED_OPERATION, MPI_File_write_at(file, 0, &value, 1, MPI_INT, &status));
    OK(MPI_File_get_size(file, &position));
    OK(MPI_File_close(&file));
    OK(MPI_File_open(MPI_COMM_WORLD, path_of("sequence"),
                     MPI_MODE_RDONLY | MPI_MODE_SEQUENTIAL | MPI_MODE_DELETE_ON_CLOSE, MPI_INFO_NULL, &file));
    OK(MPI_File_get_size(file, &position));
    CHECK_EQ(position, 2 * (MPI_Offset)sizeof value * size);
    OK(MPI_File_set_view(file, MPI_DISPLACEMENT_CURRENT, MPI_INT, MPI_INT, "native", MPI_INFO_NULL));
    for (int round = 0; round < 2; round++) {
        value = -1;
        OK(MPI_File_read_ordered(file, &value, 1, MPI_INT, &status));
        CHECK_EQ(value, rank);
    }
    OK(MPI_File_close(&file));
}

int main(int argc, char **argv)
{
    check_begin(&argc, &argv);
    MPI_File file = scratch("shared");
    nobody_loses(file);
    everything_is_read_once(file);
    in_the_order_of_ranks(file);
    seeking(file);
    OK(MPI_File_close(&file));
    sequential();
    return check_end();
}
