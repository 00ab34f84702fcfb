/* Atomic mode (section 14.6.1) and shared file pointers (section 14.4.4) by every algorithm that a hint can choose: accesses to the
 * same bytes, through views of many forms, are never torn, and shared pointers leave no gap and give nothing twice. */
#include "file.h"

enum { HALF = 1200, LENGTH = 2 * HALF, ROUNDS = 12, RECORD = 16, RECORDS = 8 };

static unsigned char bytes[LENGTH];
static unsigned state;

static unsigned random_below(unsigned limit)
{
    state = state * 1664525 + 1013904223;
    return (state >> 16) % limit;
}

static MPI_File opened(const char *lock, const char *pointer, const char *ordered)
{
    MPI_File file;
    MPI_Info info;
    OK(MPI_Info_create(&info));
    OK(MPI_Info_set(info, "postrider_io_lock", lock));
    OK(MPI_Info_set(info, "postrider_io_pointer", pointer));
    OK(MPI_Info_set(info, "postrider_io_ordered", ordered));
    OK(MPI_File_open(MPI_COMM_WORLD, path_of("locks"), MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE, info, &file));
    OK(MPI_Info_free(&info));
    return file;
}

static int uniform(const unsigned char *part, int length)
{
    for (int i = 1; i < length; i++) {
        if (part[i] != part[0]) {
            return 0;
        }
    }
    return 1;
}

/* The same bytes in one piece, in many, and in another order of pieces: the file's first half are the even blocks. */
static void hammered(MPI_File file, MPI_Datatype halves)
{
    MPI_Status status;
    OK(MPI_File_set_view(file, 0, MPI_BYTE, halves, "native", MPI_INFO_NULL));
    memset(bytes, 0, LENGTH);
    OK(MPI_File_write_at_all(file, 0, bytes, LENGTH, MPI_BYTE, &status));
    OK(MPI_File_set_atomicity(file, 1));
    wait_for_all();
    for (int round = 0; round < ROUNDS; round++) {
        int half = (int)random_below(3);
        int offset = half == 1 ? HALF : 0, length = half == 2 ? LENGTH : HALF;
        memset(bytes, 1 + (int)random_below(250), LENGTH);
        if (random_below(2)) {
            OK(MPI_File_write_at(file, offset, bytes, length, MPI_BYTE, &status));
        } else {
            OK(MPI_File_read_at(file, offset, bytes, length, MPI_BYTE, &status));
            CHECK_EQ(count_of(&status, MPI_BYTE), length);
            CHECK(uniform(bytes, HALF));
            CHECK(length == HALF || uniform(bytes + HALF, HALF));
        }
    }
    OK(MPI_File_set_atomicity(file, 0));
    wait_for_all();
}

/* Each has columns of its own, and afterwards all bytes are what their owners have written last. */
static void columns(MPI_File file)
{
    MPI_Datatype column, own;
    OK(MPI_Type_vector(20, 8, 8 * size, MPI_BYTE, &column));
    OK(MPI_Type_create_resized(column, 0, 160 * size, &own));
    OK(MPI_Type_commit(&own));
    OK(MPI_File_set_atomicity(file, 1));
    OK(MPI_File_set_view(file, 8 * rank, MPI_BYTE, own, "native", MPI_INFO_NULL));
    for (int round = 0; round < 3; round++) {
        memset(bytes, 10 * rank + round, 320);
        OK(MPI_File_write_at(file, 0, bytes, 320, MPI_BYTE, MPI_STATUS_IGNORE));
        memset(bytes, 255, 320);
        OK(MPI_File_read_at(file, 0, bytes, 320, MPI_BYTE, MPI_STATUS_IGNORE));
        CHECK(uniform(bytes, 320));
        CHECK_EQ(bytes[0], 10 * rank + round);
    }
    /* From now on the views overlap, so that there are locks again. */
    OK(MPI_File_set_view(file, 0, MPI_BYTE, MPI_BYTE, "native", MPI_INFO_NULL));
    for (int round = 0; round < 5; round++) {
        memset(bytes, 100 + rank, 800);
        OK(MPI_File_write_at(file, 0, bytes, 800, MPI_BYTE, MPI_STATUS_IGNORE));
        OK(MPI_File_read_at(file, 0, bytes, 800, MPI_BYTE, MPI_STATUS_IGNORE));
        CHECK(uniform(bytes, 800));
    }
    OK(MPI_File_set_atomicity(file, 0));
    OK(MPI_Type_free(&own));
    OK(MPI_Type_free(&column));
    wait_for_all();
}

/* Records by the shared pointer, each of them written and read by somebody, and between them in the order of ranks. */
static void records(MPI_File file)
{
    static int seen[8 * RECORDS];
    int record[RECORD / 4], total = size * RECORDS;
    MPI_Offset position;
    MPI_Status status;
    OK(MPI_File_set_view(file, 0, MPI_INT, MPI_INT, "native", MPI_INFO_NULL));
    for (int i = 0; i < RECORDS; i++) {
        if (i % 4 == 3) {
            record[0] = record[1] = record[2] = record[3] = i * size + rank;
            OK(MPI_File_write_ordered(file, record, RECORD / 4, MPI_INT, &status));
            OK(MPI_File_get_position_shared(file, &position));
            CHECK(position >= (i + 1) * size * RECORD / 4);
            wait_for_all();
        } else {
            record[0] = record[1] = record[2] = record[3] = i * size + rank;
            OK(MPI_File_write_shared(file, record, RECORD / 4, MPI_INT, &status));
            if (i % 4 == 2) {
                wait_for_all();
            }
        }
    }
    OK(MPI_File_seek_shared(file, 0, MPI_SEEK_SET));
    memset(seen, 0, sizeof seen);
    for (int i = 0; i < RECORDS; i++) {
        OK(MPI_File_read_shared(file, record, RECORD / 4, MPI_INT, &status));
        CHECK_EQ(count_of(&status, MPI_INT), RECORD / 4);
        CHECK(record[0] >= 0 && record[0] < total && record[3] == record[0]);
        if (record[0] >= 0 && record[0] < total) {
            seen[record[0]]++;
        }
    }
    OK(MPI_Allreduce(MPI_IN_PLACE, seen, total, MPI_INT, MPI_SUM, MPI_COMM_WORLD));
    for (int i = 0; i < total; i++) {
        CHECK_EQ(seen[i], 1);
    }
    /* What was written in order is in order. */
    for (int i = 3; i < RECORDS; i += 4) {
        int place = i * size + rank;
        OK(MPI_File_read_at(file, (MPI_Offset)place * RECORD / 4, record, 1, MPI_INT, &status));
        CHECK_EQ(record[0], place);
    }
    wait_for_all();
}

/* Another library knows none of these hints, and tells of none. */
static void told(MPI_File file, const char *key, const char *wanted)
{
    MPI_Info info;
    char value[64] = "";
    int length = sizeof value, ours = 0, flag = 0;
    OK(MPI_File_get_info(file, &info));
    OK(MPI_Info_get_string(info, "postrider_io", &length, value, &ours));
    length = sizeof value;
    OK(MPI_Info_get_string(info, key, &length, value, &flag));
    CHECK_EQ(flag, ours);
    CHECK(!flag || strcmp(value, wanted) == 0);
    OK(MPI_Info_free(&info));
}

static void every_way(MPI_Datatype halves)
{
    static const char *const ways[] = {"auto", "hybrid", "queue", "tree", "shared", "ranges"};
    for (int way = 0; way < 6; way++) {
        const char *other = way % 2 ? "hybrid" : "add", *ordered = way == 1 || way == 2 ? "hybrid" : "carry";
        MPI_File file = opened(ways[way], other, ordered);
        told(file, "postrider_io_lock", ways[way]);
        told(file, "postrider_io_pointer", other);
        hammered(file, MPI_BYTE);
        hammered(file, halves);
        columns(file);
        records(file);
        OK(MPI_File_close(&file));
    }
}

int main(int argc, char **argv)
{
    check_begin(&argc, &argv);
    MPI_Datatype even, odd, halves, parts[2];
    Extent places[2] = {0, LENGTH + 50};
    Count ones[2] = {1, 1};
    state = 12345 + 77 * (unsigned)rank;
    /* Even blocks of 50 bytes and odd ones: ascending in the file, and interleaved with themselves. */
    OK(MPI_Type_vector(LENGTH / 100, 50, 100, MPI_BYTE, &even));
    OK(MPI_Type_create_resized(even, 0, LENGTH, &odd));
    parts[0] = odd;
    parts[1] = odd;
    OK(MPI_Type_create_struct(2, ones, places, parts, &halves));
    OK(MPI_Type_commit(&halves));
    every_way(halves);
    OK(MPI_Type_free(&halves));
    OK(MPI_Type_free(&odd));
    OK(MPI_Type_free(&even));
    return check_end();
}
