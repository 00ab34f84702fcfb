/* Offsets and counts beyond 32 bits, in files that are mostly holes. */
#define _DEFAULT_SOURCE

#include "file.h"

#include <sys/mman.h>

static const MPI_Offset FAR = (MPI_Offset)5 << 30;

static void far_away(MPI_File file)
{
    int value = rank + 1;
    MPI_Offset where, bytes;
    MPI_Datatype wide;
    MPI_Status status;
    OK(MPI_File_set_view(file, 0, MPI_INT, MPI_INT, "native", MPI_INFO_NULL));
    OK(MPI_File_write_at_all(file, FAR / 4 + rank, &value, 1, MPI_INT, &status));
    OK(MPI_File_get_size(file, &bytes));
    wait_for_all();
    OK(MPI_File_get_size(file, &bytes));
    CHECK_EQ(bytes, FAR + (MPI_Offset)sizeof value * size);
    OK(MPI_File_seek(file, -1, MPI_SEEK_END));
    OK(MPI_File_get_position(file, &where));
    CHECK_EQ(where, FAR / 4 + size - 1);
    OK(MPI_File_read_all(file, &value, 1, MPI_INT, &status));
    CHECK_EQ(value, size);
    /* A tile that is wider than 4 GiB. */
    OK(MPI_Type_create_resized(MPI_INT, 0, FAR, &wide));
    OK(MPI_Type_commit(&wide));
    OK(MPI_File_set_view(file, 0, MPI_INT, wide, "native", MPI_INFO_NULL));
    OK(MPI_File_get_byte_offset(file, 3, &where));
    CHECK_EQ(where, 3 * FAR);
    OK(MPI_File_read_at_all(file, 1, &value, 1, MPI_INT, &status));
    CHECK_EQ(value, 1);
    OK(MPI_Type_free(&wide));
}

/* More than 2 GiB are asked for, and there are only a few bytes. */
static void many(MPI_File file)
{
#ifdef LARGE_COUNT
    size_t room = (size_t)3 << 30;
    MPI_Status status;
    char *memory = mmap(NULL, room, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    CHECK(memory != MAP_FAILED);
    OK(MPI_File_set_view(file, 0, MPI_BYTE, MPI_BYTE, "native", MPI_INFO_NULL));
    OK(MPI_File_set_size(file, 1000));
    OK(MPI_File_read_at_all(file, 10, memory, (Count)room, MPI_BYTE, &status));
    CHECK_EQ(count_of(&status, MPI_BYTE), 990);
    OK(MPI_File_read_at(file, 10, memory, (Count)room, MPI_BYTE, &status));
    CHECK_EQ(count_of(&status, MPI_BYTE), 990);
    munmap(memory, room);
#else
    (void)file;
#endif
}

int main(int argc, char **argv)
{
    check_begin(&argc, &argv);
    MPI_File file = scratch("large");
    far_away(file);
    many(file);
    OK(MPI_File_close(&file));
    return check_end();
}
