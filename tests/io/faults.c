/* What the system refuses: the error class is that of what it says, at the process that met it, or at all of a collective call; what was written
 * before stays; nobody waits for ever, whatever comes next works, and locks are given back.
 *
 * The functions of the system are defined here once more. The library's calls come here, and fail behind a place of the file. */
#define _GNU_SOURCE
#include "file.h"
#include <errno.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { PLACE = 1 << 20, BLOCK = 4096 };

static atomic_int writing_fails, reading_fails, flushing_fails, cutting_fails;

/* How many bytes are before the place; a call that ends behind it is cut short there. */
static size_t allowed(size_t bytes, long long offset)
{
    long long before = PLACE - offset;
    return before < 0 ? 0 : before < (long long)bytes ? (size_t)before : bytes;
}

ssize_t pwrite64(int file, const void *from, size_t bytes, off64_t offset)
{
    size_t there = writing_fails ? allowed(bytes, offset) : bytes;
    if (there == 0 && bytes > 0) {
        errno = writing_fails;
        return -1;
    }
    return syscall(SYS_pwrite64, file, from, there, offset);
}

ssize_t pread64(int file, void *to, size_t bytes, off64_t offset)
{
    size_t there = reading_fails ? allowed(bytes, offset) : bytes;
    if (there == 0 && bytes > 0) {
        errno = reading_fails;
        return -1;
    }
    return syscall(SYS_pread64, file, to, there, offset);
}

int fsync(int file)
{
    if (flushing_fails) {
        errno = flushing_fails;
        return -1;
    }
    return (int)syscall(SYS_fsync, file);
}

int ftruncate64(int file, off64_t bytes)
{
    if (cutting_fails && bytes >= PLACE) {
        errno = cutting_fails;
        return -1;
    }
    return (int)syscall(SYS_ftruncate, file, bytes);
}

static const struct {
    int number, class;
} faults[] = {
    {EIO, MPI_ERR_IO},       {EROFS, MPI_ERR_READ_ONLY}, {ENOSPC, MPI_ERR_NO_SPACE},
    {EDQUOT, MPI_ERR_QUOTA}, {EFBIG, MPI_ERR_IO},        {EACCES, MPI_ERR_ACCESS},
};

static unsigned char block[BLOCK], found[BLOCK];

/* Behind the place, a block of this process. */
static MPI_Offset behind(void)
{
    return PLACE + (MPI_Offset)rank * BLOCK;
}

/* Everybody's first block is as it was written before anything failed. */
static void check_intact(MPI_File file)
{
    for (int other = 0; other < size; other++) {
        OK(MPI_File_read_at(file, (MPI_Offset)other * BLOCK, found, BLOCK, MPI_BYTE, MPI_STATUS_IGNORE));
        CHECK(filled(found, BLOCK, (unsigned)other));
    }
}

/* A file that rank 0 accesses for all in collective calls ("enable"), or that each accesses for itself ("disable"). */
static MPI_File scratch_buffered(const char *name, const char *buffering)
{
    MPI_File file;
    MPI_Info info;
    int mode = MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE;
    OK(MPI_Info_create(&info));
    OK(MPI_Info_set(info, "cb_nodes", "1"));
    OK(MPI_Info_set(info, "cb_buffer_size", "5000"));
    OK(MPI_Info_set(info, "romio_cb_write", buffering));
    OK(MPI_Info_set(info, "romio_cb_read", buffering));
    OK(MPI_File_open(MPI_COMM_WORLD, path_of(name), mode, info, &file));
    OK(MPI_Info_free(&info));
    return file;
}

static void writes(MPI_File file, int bad, int number, int class)
{
    MPI_Request request;
    MPI_Offset before, after;
    wait_for_all();
    writing_fails = rank == bad ? number : 0;
    if (rank == bad) {
        FAILS(class, MPI_File_write_at(file, behind(), block, BLOCK, MPI_BYTE, MPI_STATUS_IGNORE));
        FAILS(class, MPI_File_write_at(file, PLACE - BLOCK / 2, block, BLOCK, MPI_BYTE, MPI_STATUS_IGNORE));
        OK(MPI_File_iwrite_at(file, behind(), block, BLOCK, MPI_BYTE, &request));
        FAILS(class, MPI_Wait(&request, MPI_STATUS_IGNORE));
    } else {
        OK(MPI_File_write_at(file, behind(), block, BLOCK, MPI_BYTE, MPI_STATUS_IGNORE));
        OK(MPI_File_iwrite_at(file, behind(), block, BLOCK, MPI_BYTE, &request));
        OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    }
    FAILS(class, MPI_File_write_at_all(file, behind(), block, BLOCK, MPI_BYTE, MPI_STATUS_IGNORE));
    OK(MPI_File_get_position(file, &before));
    OK(MPI_File_seek(file, behind(), MPI_SEEK_SET));
    FAILS(class, MPI_File_write_all(file, block, BLOCK, MPI_BYTE, MPI_STATUS_IGNORE));
    OK(MPI_File_get_position(file, &after));
    CHECK_EQ(after, behind() + BLOCK);
    OK(MPI_File_seek(file, before, MPI_SEEK_SET));
    FAILS(class, MPI_File_write_at_all_begin(file, behind(), block, BLOCK, MPI_BYTE));
    OK(MPI_File_seek_shared(file, PLACE, MPI_SEEK_SET));
    FAILS(class, MPI_File_write_ordered(file, block, BLOCK, MPI_BYTE, MPI_STATUS_IGNORE));
    wait_for_all();
    writing_fails = 0;
    OK(MPI_File_write_at_all(file, behind(), block, BLOCK, MPI_BYTE, MPI_STATUS_IGNORE));
    check_intact(file);
}

static void reads(MPI_File file, int bad, int number, int class)
{
    wait_for_all();
    reading_fails = rank == bad ? number : 0;
    if (rank == bad) {
        FAILS(class, MPI_File_read_at(file, behind(), found, BLOCK, MPI_BYTE, MPI_STATUS_IGNORE));
    } else {
        OK(MPI_File_read_at(file, behind(), found, BLOCK, MPI_BYTE, MPI_STATUS_IGNORE));
    }
    FAILS(class, MPI_File_read_at_all(file, behind(), found, BLOCK, MPI_BYTE, MPI_STATUS_IGNORE));
    wait_for_all();
    reading_fails = 0;
    OK(MPI_File_read_at_all(file, behind(), found, BLOCK, MPI_BYTE, MPI_STATUS_IGNORE));
    CHECK(filled(found, BLOCK, (unsigned)rank));
}

/* Whoever accesses the file for the others has the error, and all others hear of it. */
static void by_others(int number, int class)
{
    MPI_File file = scratch_buffered("by_others", "enable");
    writing_fails = rank == 0 ? number : 0;
    FAILS(class, MPI_File_write_at_all(file, behind(), block, BLOCK, MPI_BYTE, MPI_STATUS_IGNORE));
    OK(MPI_File_write_at_all(file, (MPI_Offset)rank * BLOCK, block, BLOCK, MPI_BYTE, MPI_STATUS_IGNORE));
    writing_fails = 0;
    OK(MPI_File_write_at_all(file, behind(), block, BLOCK, MPI_BYTE, MPI_STATUS_IGNORE));
    reading_fails = rank == 0 ? number : 0;
    FAILS(class, MPI_File_read_at_all(file, behind(), found, BLOCK, MPI_BYTE, MPI_STATUS_IGNORE));
    reading_fails = 0;
    check_intact(file);
    OK(MPI_File_close(&file));
}

/* A lock is given back by whoever could not write. */
static void in_turn(MPI_File file, int bad)
{
    int value = 7, read = 0;
    OK(MPI_File_set_atomicity(file, 1));
    writing_fails = rank == bad ? EIO : 0;
    for (int i = 0; i < 5; i++) {
        int code = MPI_File_write_at(file, PLACE, &value, 1, MPI_INT, MPI_STATUS_IGNORE);
        if (rank == bad) {
            FAILS(MPI_ERR_IO, code);
        } else {
            OK(code);
        }
    }
    writing_fails = 0;
    OK(MPI_File_write_at(file, PLACE, &value, 1, MPI_INT, MPI_STATUS_IGNORE));
    OK(MPI_File_read_at(file, PLACE, &read, 1, MPI_INT, MPI_STATUS_IGNORE));
    CHECK_EQ(read, value);
    OK(MPI_File_set_atomicity(file, 0));
}

static void sizes(MPI_File file, int bad)
{
    flushing_fails = rank == bad ? EIO : 0;
    FAILS(MPI_ERR_IO, MPI_File_sync(file));
    flushing_fails = 0;
    OK(MPI_File_sync(file));
    cutting_fails = rank == 0 ? ENOSPC : 0;
    FAILS(MPI_ERR_NO_SPACE, MPI_File_set_size(file, 2 * PLACE));
    cutting_fails = 0;
    OK(MPI_File_set_size(file, 2 * PLACE));
}

/* A file that somebody deletes goes on until it is closed; there is nothing left to delete then. */
static void deleted(void)
{
    MPI_File file = scratch("deleted");
    MPI_Offset bytes;
    OK(MPI_File_write_at_all(file, (MPI_Offset)rank * BLOCK, block, BLOCK, MPI_BYTE, MPI_STATUS_IGNORE));
    wait_for_all();
    if (rank == 0) {
        CHECK_EQ(unlink(path_of("deleted")), 0);
    }
    wait_for_all();
    OK(MPI_File_write_at(file, behind(), block, BLOCK, MPI_BYTE, MPI_STATUS_IGNORE));
    OK(MPI_File_sync(file));
    check_intact(file);
    OK(MPI_File_get_size(file, &bytes));
    CHECK_EQ(bytes, PLACE + (MPI_Offset)size * BLOCK);
    OK(MPI_File_close(&file));
}

int main(int argc, char **argv)
{
    check_begin(&argc, &argv);
    MPI_File file = scratch_buffered("faults", "disable");
    fill(block, BLOCK, (unsigned)rank);
    OK(MPI_File_write_at_all(file, (MPI_Offset)rank * BLOCK, block, BLOCK, MPI_BYTE, MPI_STATUS_IGNORE));
    for (int i = 0; i < (int)(sizeof faults / sizeof *faults); i++) {
        writes(file, i % size, faults[i].number, faults[i].class);
        reads(file, i % size, faults[i].number, faults[i].class);
    }
    by_others(EIO, MPI_ERR_IO);
    in_turn(file, size - 1);
    sizes(file, size - 1);
    check_intact(file);
    OK(MPI_File_close(&file));
    deleted();
    return check_end();
}
