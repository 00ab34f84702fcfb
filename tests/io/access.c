/* Data access (sections 14.4.2, 14.4.3 and 14.4.5): at offsets and at the individual file pointer; by one process or all;
 * blocking, nonblocking and split; with what statuses tell. */
#include "file.h"

enum { COUNT = 50 };

static MPI_Offset mine(int round)
{
    return (MPI_Offset)COUNT * (size * round + rank);
}

static void values_of(int *values, int round)
{
    for (int i = 0; i < COUNT; i++) {
        values[i] = 1000 * round + 100000 * rank + i;
    }
}

/* What rank's successor has written in a round. */
static void check_next(MPI_File file, int round)
{
    int values[COUNT];
    int next = (rank + 1) % size;
    MPI_Status status;
    wait_for_all();
    OK(MPI_File_read_at(file, (MPI_Offset)COUNT * (size * round + next), values, COUNT, MPI_INT, &status));
    CHECK_EQ(count_of(&status, MPI_INT), COUNT);
    for (int i = 0; i < COUNT; i++) {
        CHECK_EQ(values[i], 1000 * round + 100000 * next + i);
    }
}

static void wait_count(MPI_Request *request, int expected)
{
    MPI_Status status;
    OK(MPI_Wait(request, &status));
    CHECK(*request == MPI_REQUEST_NULL);
    CHECK_EQ(count_of(&status, MPI_INT), expected);
}

static void at_offsets(MPI_File file)
{
    int values[COUNT], round = 0;
    MPI_Status status;
    MPI_Request request;
    values_of(values, round);
    OK(MPI_File_write_at(file, mine(round), values, COUNT, MPI_INT, &status));
    CHECK_EQ(count_of(&status, MPI_INT), COUNT);
    check_next(file, round++);
    values_of(values, round);
    OK(MPI_File_write_at_all(file, mine(round), values, COUNT, MPI_INT, &status));
    CHECK_EQ(count_of(&status, MPI_INT), COUNT);
    check_next(file, round++);
    values_of(values, round);
    OK(MPI_File_iwrite_at(file, mine(round), values, COUNT, MPI_INT, &request));
    wait_count(&request, COUNT);
    check_next(file, round++);
    values_of(values, round);
    OK(MPI_File_iwrite_at_all(file, mine(round), values, COUNT, MPI_INT, &request));
    wait_count(&request, COUNT);
    check_next(file, round++);
    values_of(values, round);
    OK(MPI_File_write_at_all_begin(file, mine(round), values, COUNT, MPI_INT));
    OK(MPI_File_write_at_all_end(file, values, &status));
    CHECK_EQ(count_of(&status, MPI_INT), COUNT);
    check_next(file, round);
    memset(values, 0, sizeof values);
    OK(MPI_File_read_at_all(file, mine(0), values, COUNT, MPI_INT, &status));
    CHECK_EQ(values[3], 100000 * rank + 3);
    OK(MPI_File_iread_at(file, mine(1), values, COUNT, MPI_INT, &request));
    wait_count(&request, COUNT);
    CHECK_EQ(values[3], 1000 + 100000 * rank + 3);
    OK(MPI_File_iread_at_all(file, mine(2), values, COUNT, MPI_INT, &request));
    wait_count(&request, COUNT);
    CHECK_EQ(values[3], 2000 + 100000 * rank + 3);
    OK(MPI_File_read_at_all_begin(file, mine(3), values, COUNT, MPI_INT));
    OK(MPI_File_read_at_all_end(file, values, &status));
    CHECK_EQ(values[3], 3000 + 100000 * rank + 3);
}

static void at_pointer(MPI_File file)
{
    int values[COUNT], round = 0;
    MPI_Status status;
    MPI_Request request;
    MPI_Offset position;
    values_of(values, round);
    OK(MPI_File_seek(file, mine(round), MPI_SEEK_SET));
    OK(MPI_File_write(file, values, COUNT, MPI_INT, &status));
    CHECK_EQ(count_of(&status, MPI_INT), COUNT);
    check_next(file, round++);
    values_of(values, round);
    OK(MPI_File_seek(file, (MPI_Offset)COUNT * (size - 1), MPI_SEEK_CUR));
    OK(MPI_File_write_all(file, values, COUNT, MPI_INT, &status));
    check_next(file, round++);
    values_of(values, round);
    OK(MPI_File_seek(file, (MPI_Offset)COUNT * (size - 1), MPI_SEEK_CUR));
    OK(MPI_File_iwrite(file, values, COUNT, MPI_INT, &request));
    OK(MPI_File_get_position(file, &position));
    CHECK_EQ(position, mine(round) + COUNT);
    wait_count(&request, COUNT);
    check_next(file, round++);
    values_of(values, round);
    OK(MPI_File_seek(file, mine(round), MPI_SEEK_SET));
    OK(MPI_File_iwrite_all(file, values, COUNT, MPI_INT, &request));
    wait_count(&request, COUNT);
    check_next(file, round++);
    values_of(values, round);
    OK(MPI_File_seek(file, mine(round), MPI_SEEK_SET));
    OK(MPI_File_write_all_begin(file, values, COUNT, MPI_INT));
    OK(MPI_File_write_all_end(file, values, &status));
    check_next(file, round);
    for (int way = 0; way < 5; way++) {
        memset(values, 0, sizeof values);
        OK(MPI_File_seek(file, mine(way), MPI_SEEK_SET));
        switch (way) {
        case 0:
            OK(MPI_File_read(file, values, COUNT, MPI_INT, &status));
            break;
        case 1:
            OK(MPI_File_read_all(file, values, COUNT, MPI_INT, &status));
            break;
        case 2:
            OK(MPI_File_iread(file, values, COUNT, MPI_INT, &request));
            OK(MPI_Wait(&request, &status));
            break;
        case 3:
            OK(MPI_File_iread_all(file, values, COUNT, MPI_INT, &request));
            OK(MPI_Wait(&request, &status));
            break;
        default:
            OK(MPI_File_read_all_begin(file, values, COUNT, MPI_INT));
            OK(MPI_File_read_all_end(file, values, &status));
        }
        CHECK_EQ(count_of(&status, MPI_INT), COUNT);
        CHECK_EQ(values[COUNT - 1], 1000 * way + 100000 * rank + COUNT - 1);
        OK(MPI_File_get_position(file, &position));
        CHECK_EQ(position, mine(way) + COUNT);
    }
    FAILS(MPI_ERR_ARG, MPI_File_seek(file, -1, MPI_SEEK_SET));
    FAILS(MPI_ERR_ARG, MPI_File_seek(file, 0, 12345));
}

/* What there is behind the end of the file: nothing. */
static void end_of_file(MPI_File file)
{
    char bytes[20];
    int values[4];
    MPI_Status status;
    MPI_Offset position;
    MPI_Datatype two, spread;
    Count elements;
    MPI_Request request;
    OK(MPI_File_set_view(file, 0, MPI_BYTE, MPI_BYTE, "native", MPI_INFO_NULL));
    OK(MPI_File_set_size(file, 10));
    OK(MPI_File_read_at(file, 4, bytes, 20, MPI_BYTE, &status));
    CHECK_EQ(count_of(&status, MPI_BYTE), 6);
    CHECK_EQ(count_of(&status, MPI_INT), MPI_UNDEFINED);
    OK(MPI_File_read_at_all(file, 30, bytes, 5, MPI_BYTE, &status));
    CHECK_EQ(count_of(&status, MPI_BYTE), 0);
    OK(MPI_File_iread_at(file, 9, bytes, 5, MPI_BYTE, &request));
    OK(MPI_Wait(&request, &status));
    CHECK_EQ(count_of(&status, MPI_BYTE), 1);
    /* Basic elements, where there is half of a derived one. */
    OK(MPI_Type_contiguous(2, MPI_SHORT, &two));
    OK(MPI_Type_commit(&two));
    OK(MPI_File_read_at(file, 0, values, 4, two, &status));
    CHECK_EQ(count_of(&status, two), MPI_UNDEFINED);
    OK(MPI_Get_elements(&status, two, &elements));
    CHECK_EQ(elements, 5);
    OK(MPI_Type_free(&two));
    /* The end lies in a hole of what is asked for, or in a block. */
    OK(MPI_Type_vector(3, 2, 4, MPI_BYTE, &spread));
    OK(MPI_Type_commit(&spread));
    OK(MPI_File_set_view(file, 0, MPI_BYTE, spread, "native", MPI_INFO_NULL));
    memset(bytes, 1, sizeof bytes);
    OK(MPI_File_read_all(file, bytes, 20, MPI_BYTE, &status));
    CHECK_EQ(count_of(&status, MPI_BYTE), 6);
    CHECK_EQ(bytes[5], 0);
    CHECK_EQ(bytes[6], 1);
    OK(MPI_File_seek(file, 0, MPI_SEEK_END));
    OK(MPI_File_get_position(file, &position));
    CHECK_EQ(position, 6);
    OK(MPI_File_seek(file, -2, MPI_SEEK_END));
    OK(MPI_File_get_position(file, &position));
    CHECK_EQ(position, 4);
    OK(MPI_Type_free(&spread));
    wait_for_all();
}

/* Buffers with gaps. */
static void derived(MPI_File file)
{
    int out[30], in[30];
    MPI_Datatype every_third, absolute;
    MPI_Status status;
    MPI_Aint address;
    Extent place;
    Count one = 1;
    for (int i = 0; i < 30; i++) {
        out[i] = 100 * rank + i;
        in[i] = -1;
    }
    OK(MPI_File_set_view(file, 0, MPI_INT, MPI_INT, "native", MPI_INFO_NULL));
    OK(MPI_Type_vector(5, 1, 3, MPI_INT, &every_third));
    OK(MPI_Type_commit(&every_third));
    OK(MPI_File_write_at_all(file, (MPI_Offset)10 * rank, out, 1, every_third, &status));
    CHECK_EQ(count_of(&status, every_third), 1);
    OK(MPI_File_write_at(file, (MPI_Offset)10 * rank + 5, out + 15, 1, every_third, &status));
    wait_for_all();
    OK(MPI_File_read_at_all(file, (MPI_Offset)10 * rank, in, 10, MPI_INT, &status));
    for (int i = 0; i < 10; i++) {
        CHECK_EQ(in[i], 100 * rank + 3 * i);
    }
    memset(in, 0xff, sizeof in);
    OK(MPI_Get_address(in, &address));
    place = address;
    OK(MPI_Type_create_hindexed_block(1, (int)one, &place, every_third, &absolute));
    OK(MPI_Type_commit(&absolute));
    OK(MPI_File_read_at(file, (MPI_Offset)10 * rank, MPI_BOTTOM, 1, absolute, &status));
    CHECK_EQ(in[3], 100 * rank + 3);
    CHECK_EQ(in[4], -1);
    CHECK_EQ(in[12], 100 * rank + 12);
    OK(MPI_Type_free(&absolute));
    /* Only the first half of the last element is in the file; the rest of memory stays. */
    wait_for_all();
    OK(MPI_File_set_size(file, 4 * (MPI_Offset)sizeof(int)));
    memset(in, 0xff, sizeof in);
    OK(MPI_File_read_at_all(file, 2, in, 1, every_third, &status));
    CHECK_EQ(in[0], 6);
    CHECK_EQ(in[3], 9);
    CHECK_EQ(in[6], -1);
    OK(MPI_Type_free(&every_third));
    wait_for_all();
}

static void nothing(MPI_File file)
{
    MPI_Status status;
    MPI_Request request;
    MPI_Offset before, after;
    OK(MPI_File_get_position(file, &before));
    OK(MPI_File_write(file, NULL, 0, MPI_INT, &status));
    CHECK_EQ(count_of(&status, MPI_INT), 0);
    OK(MPI_File_read_all(file, NULL, 0, MPI_INT, &status));
    CHECK_EQ(count_of(&status, MPI_INT), 0);
    OK(MPI_File_iread(file, NULL, 0, MPI_INT, &request));
    wait_count(&request, 0);
    OK(MPI_File_get_position(file, &after));
    CHECK_EQ(before, after);
}

static void refused(MPI_File file)
{
    int value = 0;
    MPI_Request request;
    FAILS(MPI_ERR_COUNT, MPI_File_write_at(file, 0, &value, -1, MPI_INT, MPI_STATUS_IGNORE));
    FAILS(MPI_ERR_ARG, MPI_File_write_at(file, -1, &value, 1, MPI_INT, MPI_STATUS_IGNORE));
    FAILS(MPI_ERR_TYPE, MPI_File_read_at(file, 0, &value, 1, MPI_DATATYPE_NULL, MPI_STATUS_IGNORE));
    FAILS(MPI_ERR_BUFFER, MPI_File_write_at(file, 0, NULL, 1, MPI_INT, MPI_STATUS_IGNORE));
    FAILS(MPI_ERR_ARG, MPI_File_write_at(file, 0, &value, 1, MPI_SHORT, MPI_STATUS_IGNORE));
    FAILS(MPI_ERR_FILE, MPI_File_write_at(MPI_FILE_NULL, 0, &value, 1, MPI_INT, MPI_STATUS_IGNORE));
    FAILS(MPI_ERR_FILE, MPI_File_iread(MPI_FILE_NULL, &value, 1, MPI_INT, &request));
}

static void splits(MPI_File file)
{
    int value = rank;
    MPI_Status status;
    OK(MPI_File_write_at_all_begin(file, rank, &value, 1, MPI_INT));
    FAILS(MPI_ERR_OTHER, MPI_File_write_at_all_begin(file, rank, &value, 1, MPI_INT));
    FAILS(MPI_ERR_OTHER, MPI_File_read_all(file, &value, 1, MPI_INT, &status));
    FAILS(MPI_ERR_OTHER, MPI_File_read_at_all_end(file, &value, &status));
    FAILS(MPI_ERR_OTHER, MPI_File_close(&file));
    OK(MPI_File_write_at_all_end(file, &value, &status));
    CHECK_EQ(count_of(&status, MPI_INT), 1);
    FAILS(MPI_ERR_OTHER, MPI_File_write_at_all_end(file, &value, &status));
}

/* Many requests at once, in any order. */
static void many_requests(MPI_File file)
{
    enum { REQUESTS = 40 };
    static int values[REQUESTS];
    MPI_Request requests[REQUESTS];
    MPI_Status statuses[REQUESTS];
    for (int i = 0; i < REQUESTS; i++) {
        values[i] = rank * REQUESTS + i;
        OK(MPI_File_iwrite_at(file, (MPI_Offset)i * size + rank, &values[i], 1, MPI_INT, &requests[i]));
    }
    OK(MPI_Waitall(REQUESTS, requests, statuses));
    CHECK_EQ(count_of(&statuses[REQUESTS - 1], MPI_INT), 1);
    wait_for_all();
    for (int i = 0; i < REQUESTS; i++) {
        values[i] = -1;
        OK(MPI_File_iread_at(file, (MPI_Offset)i * size + (rank + 1) % size, &values[i], 1, MPI_INT, &requests[i]));
    }
    for (int i = 0; i < REQUESTS; i++) {
        int index;
        OK(MPI_Waitany(REQUESTS, requests, &index, MPI_STATUS_IGNORE));
        CHECK(index != MPI_UNDEFINED && values[index] == (rank + 1) % size * REQUESTS + index);
    }
}

int main(int argc, char **argv)
{
    check_begin(&argc, &argv);
    MPI_File file = scratch("access");
    OK(MPI_File_set_view(file, 0, MPI_INT, MPI_INT, "native", MPI_INFO_NULL));
    at_offsets(file);
    OK(MPI_File_set_view(file, 8, MPI_INT, MPI_INT, "native", MPI_INFO_NULL));
    at_pointer(file);
    end_of_file(file);
    derived(file);
    nothing(file);
    refused(file);
    splits(file);
    many_requests(file);
    OK(MPI_File_close(&file));
    return check_end();
}
