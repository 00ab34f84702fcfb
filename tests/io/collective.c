/* Accesses of all processes together: whatever the pieces, the hints and the ends, the bytes are those of a naive model, and
 * bytes of nobody stay as they are. */
#include "file.h"

enum { SPACE = 30000, PIECES = 60 };

static unsigned long long seed;

static int below(int limit)
{
    seed = seed * 6364136223846793005ULL + 1442695040888963407ULL;
    return (int)((seed >> 33) % (unsigned long long)limit);
}

/* The pieces of every process, which every process computes: ascending, and of one owner each. */
static int owners[PIECES], starts[PIECES], lengths[PIECES], pieces;

static void deal(void)
{
    int at = below(50);
    for (pieces = 0; pieces < PIECES; pieces++) {
        owners[pieces] = below(size + 1); /* The last owner is nobody: a hole. */
        starts[pieces] = at;
        lengths[pieces] = below(300);
        at += lengths[pieces] + below(3) * below(100);
    }
}

static MPI_Datatype type_of(int owner, int *bytes)
{
    MPI_Datatype made;
    Count own_lengths[PIECES];
    Extent own_starts[PIECES];
    int count = 0;
    *bytes = 0;
    for (int i = 0; i < pieces; i++) {
        if (owners[i] == owner) {
            own_lengths[count] = lengths[i];
            own_starts[count++] = starts[i];
            *bytes += lengths[i];
        }
    }
    OK(MPI_Type_create_hindexed(count, own_lengths, own_starts, MPI_BYTE, &made));
    OK(MPI_Type_commit(&made));
    return made;
}

static void check_round(int round, MPI_Info info)
{
    static unsigned char expected[SPACE], found[SPACE], buffer[SPACE];
    MPI_Status status;
    int bytes, at = 0;
    MPI_File file;
    MPI_Datatype mine;
    OK(MPI_File_open(MPI_COMM_WORLD, path_of("random"), MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE,
                     info, &file));
    deal();
    memset(expected, 0xab, SPACE);
    if (rank == 0) {
        OK(MPI_File_write_at(file, 0, expected, SPACE, MPI_BYTE, &status));
    }
    wait_for_all();
    for (int i = 0; i < pieces; i++) {
        for (int byte = 0; byte < lengths[i] && owners[i] < size; byte++) {
            expected[starts[i] + byte] = pattern((size_t)(starts[i] + byte), (unsigned)(owners[i] + round));
        }
    }
    for (int i = 0; i < pieces; i++) {
        if (owners[i] == rank) {
            memcpy(buffer + at, expected + starts[i], (size_t)lengths[i]);
            at += lengths[i];
        }
    }
    mine = type_of(rank, &bytes);
    OK(MPI_File_set_view(file, 0, MPI_BYTE, mine, "native", info));
    OK(MPI_File_write_all(file, buffer, bytes, MPI_BYTE, &status));
    CHECK_EQ(count_of(&status, MPI_BYTE), bytes);
    memset(buffer, 0, SPACE);
    OK(MPI_File_read_at_all(file, 0, buffer, bytes, MPI_BYTE, &status));
    CHECK_EQ(count_of(&status, MPI_BYTE), bytes);
    at = 0;
    for (int i = 0; i < pieces; i++) {
        if (owners[i] == rank) {
            CHECK(memcmp(buffer + at, expected + starts[i], (size_t)lengths[i]) == 0);
            at += lengths[i];
        }
    }
    OK(MPI_Type_free(&mine));
    /* All of it, by each process, with the end of the file in it. */
    OK(MPI_File_set_view(file, 0, MPI_BYTE, MPI_BYTE, "native", MPI_INFO_NULL));
    int end = SPACE - below(SPACE);
    OK(MPI_File_set_size(file, end));
    OK(MPI_File_read_all(file, found, SPACE, MPI_BYTE, &status));
    CHECK_EQ(count_of(&status, MPI_BYTE), end);
    CHECK(memcmp(found, expected, (size_t)end) == 0);
    OK(MPI_File_close(&file));
}

/* Where ranges overlap, the file has one of the values, and the same for all. */
static void overlap(void)
{
    enum { LENGTH = 5000 };
    static unsigned char bytes[LENGTH];
    MPI_File file = scratch("overlap");
    memset(bytes, 1 + rank, LENGTH);
    OK(MPI_File_write_at_all(file, 100 * rank, bytes, LENGTH, MPI_BYTE, MPI_STATUS_IGNORE));
    wait_for_all();
    OK(MPI_File_read_at_all(file, 0, bytes, LENGTH, MPI_BYTE, MPI_STATUS_IGNORE));
    for (int i = 0; i < LENGTH; i++) {
        CHECK(bytes[i] >= 1 && bytes[i] <= 1 + i / 100);
    }
    OK(MPI_File_close(&file));
}

int main(int argc, char **argv)
{
    static const char *const buffers[] = {"1000", "4096", "16777216"}, *const nodes[] = {"1", "2", "5"};
    check_begin(&argc, &argv);
    seed = 12345;
    for (int round = 0; round < 9; round++) {
        MPI_Info info;
        OK(MPI_Info_create(&info));
        OK(MPI_Info_set(info, "cb_buffer_size", buffers[round % 3]));
        OK(MPI_Info_set(info, "cb_nodes", nodes[round / 3]));
        OK(MPI_Info_set(info, "collective_buffering", round == 4 ? "false" : "true"));
        check_round(round, info);
        OK(MPI_Info_free(&info));
    }
    overlap();
    return check_end();
}
