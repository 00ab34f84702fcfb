/* Hints as users of ROMIO know them: MPI_File_get_info tells what is in force, and the system is asked for what they say. */
#define _GNU_SOURCE
#include "file.h"
#include <sys/syscall.h>
#include <unistd.h>

enum { PIECE = 2048, DISTANCE = 8192, PIECES = 8, BYTES = PIECE * PIECES };

/* The library's calls of the system come here. */
static atomic_int written, read_times;

ssize_t pwrite64(int file, const void *from, size_t bytes, off64_t offset)
{
    written++;
    return syscall(SYS_pwrite64, file, from, bytes, offset);
}

ssize_t pread64(int file, void *to, size_t bytes, off64_t offset)
{
    read_times++;
    return syscall(SYS_pread64, file, to, bytes, offset);
}

static MPI_Info info_of(int count, const char *const (*pairs)[2])
{
    MPI_Info info;
    OK(MPI_Info_create(&info));
    for (int i = 0; i < count; i++) {
        OK(MPI_Info_set(info, pairs[i][0], pairs[i][1]));
    }
    return info;
}

static MPI_File opened(const char *name, int mode, int count, const char *const (*pairs)[2])
{
    MPI_File file;
    MPI_Info info = info_of(count, pairs);
    mode |= MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE;
    OK(MPI_File_open(MPI_COMM_WORLD, name, mode, info, &file));
    OK(MPI_Info_free(&info));
    return file;
}

static void check_told(MPI_File file, const char *key, const char *expected)
{
    char value[100] = "";
    int length = sizeof value, flag = 0;
    MPI_Info info;
    OK(MPI_File_get_info(file, &info));
    OK(MPI_Info_get_string(info, key, &length, value, &flag));
    if (!flag || strcmp(value, expected) != 0) {
        fprintf(stderr, "%s is %s\n", key, flag ? value : "not told");
        CHECK(!"a hint has another value");
    }
    OK(MPI_Info_free(&info));
}

/* Pieces of each process in turn, with room between them. */
static void see_pieces(MPI_File file)
{
    MPI_Datatype piece, tile;
    OK(MPI_Type_contiguous(PIECE, MPI_BYTE, &piece));
    OK(MPI_Type_create_resized(piece, 0, (Extent)DISTANCE * size, &tile));
    OK(MPI_Type_commit(&tile));
    OK(MPI_File_set_view(file, (MPI_Offset)DISTANCE * rank, MPI_BYTE, tile, "native", MPI_INFO_NULL));
    OK(MPI_Type_free(&piece));
    OK(MPI_Type_free(&tile));
}

static void told(void)
{
    static const char *const given[][2] = {
        {"romio_cb_read", "disable"},       {"romio_cb_write", "enable"},      {"romio_ds_read", "enable"},
        {"romio_ds_write", "disable"},      {"ind_rd_buffer_size", "100000"},  {"ind_wr_buffer_size", "200000"},
        {"cb_buffer_size", "300000"},       {"cb_nodes", "2"},                 {"cb_config_list", "*:1"},
        {"striping_unit", "1048576"},
    };
    static const char *const changed[][2] = {{"romio_cb_read", "automatic"}, {"romio_ds_read", "nonsense"}};
    MPI_File file = opened(path_of("told"), 0, 10, given);
    MPI_Info info = info_of(2, changed);
    for (int i = 0; i < 10; i++) {
        check_told(file, given[i][0], given[i][1]);
    }
    OK(MPI_File_set_info(file, info));
    OK(MPI_Info_free(&info));
    check_told(file, "romio_cb_read", "automatic");
    check_told(file, "romio_ds_read", "enable");
    OK(MPI_File_close(&file));
}

/* The file that ROMIO_HINTS names holds for all files; what the program says goes before it. */
static void by_file(void)
{
    static const char *const given[][2] = {{"cb_nodes", "1"}};
    const char *path = path_of("romio-hints");
    MPI_File file;
    if (rank == 0) {
        FILE *hints = fopen(path, "w");
        fprintf(hints, "# for all\nromio_cb_write disable\ncb_nodes 5\n");
        CHECK_EQ(fclose(hints), 0);
    }
    wait_for_all();
    setenv("ROMIO_HINTS", path, 1);
    file = opened(path_of("by_file"), 0, 1, given);
    unsetenv("ROMIO_HINTS");
    check_told(file, "romio_cb_write", "disable");
    check_told(file, "cb_nodes", "1");
    OK(MPI_File_close(&file));
    if (rank == 0) {
        CHECK_EQ(unlink(path), 0);
    }
}

/* Prefixes of names that tell the file system. */
static void prefixed(void)
{
    char name[1010];
    MPI_File file;
    snprintf(name, sizeof name, "ufs:%s", path_of("prefixed"));
    OK(MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_CREATE | MPI_MODE_WRONLY, MPI_INFO_NULL, &file));
    CHECK_EQ(access(path_of("prefixed"), F_OK), 0);
    OK(MPI_File_close(&file));
    if (rank == 0) {
        OK(MPI_File_delete(name, MPI_INFO_NULL));
        CHECK_EQ(access(path_of("prefixed"), F_OK), -1);
    }
}

static void buffering(const char *write, const char *read, int writers_max)
{
    const char *const given[][2] = {
        {"romio_cb_write", write}, {"romio_cb_read", read}, {"cb_nodes", "1"}, {"romio_ds_read", "disable"}};
    static unsigned char out[BYTES], in[BYTES];
    MPI_File file = opened(path_of("buffering"), 0, 4, given);
    int writes, writers = 0;
    fill(out, BYTES, (unsigned)rank);
    written = read_times = 0;
    OK(MPI_File_write_at_all(file, (MPI_Offset)rank * BYTES, out, BYTES, MPI_BYTE, MPI_STATUS_IGNORE));
    writes = written > 0;
    OK(MPI_Allreduce(&writes, &writers, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD));
    CHECK(size == 1 || writers == writers_max);
    see_pieces(file);
    read_times = 0;
    OK(MPI_File_read_at_all(file, 0, in, BYTES / size, MPI_BYTE, MPI_STATUS_IGNORE));
    CHECK(size == 1 || strcmp(read, "enable") != 0 || (read_times > 0) == (rank == 0));
    OK(MPI_File_close(&file));
}

static void sieving_reads(const char *choice, int calls)
{
    const char *const given[][2] = {{"romio_ds_read", choice}};
    static unsigned char bytes[BYTES];
    MPI_File file = opened(path_of("sieving"), 0, 1, given);
    see_pieces(file);
    fill(bytes, BYTES, (unsigned)rank);
    OK(MPI_File_write_all(file, bytes, BYTES, MPI_BYTE, MPI_STATUS_IGNORE));
    wait_for_all();
    memset(bytes, 0, BYTES);
    read_times = 0;
    OK(MPI_File_read_at(file, 0, bytes, BYTES, MPI_BYTE, MPI_STATUS_IGNORE));
    CHECK_EQ(read_times, calls);
    CHECK(filled(bytes, BYTES, (unsigned)rank));
    wait_for_all();
    OK(MPI_File_close(&file));
}

/* In atomic mode pieces are written together with what is between, which others write in their turns: none of it is lost. */
static void sieving_writes(const char *choice, int calls)
{
    const char *const given[][2] = {{"romio_ds_write", choice}};
    static unsigned char out[BYTES], in[BYTES];
    MPI_File file = opened(path_of("sieving"), 0, 1, given);
    see_pieces(file);
    OK(MPI_File_set_atomicity(file, 1));
    for (int round = 0; round < 20; round++) {
        fill(out, BYTES, (unsigned)(rank + 10 * round));
        written = 0;
        OK(MPI_File_write_at(file, 0, out, BYTES, MPI_BYTE, MPI_STATUS_IGNORE));
        CHECK_EQ(written, calls);
        OK(MPI_File_read_at(file, 0, in, BYTES, MPI_BYTE, MPI_STATUS_IGNORE));
        CHECK(memcmp(in, out, BYTES) == 0);
    }
    OK(MPI_File_close(&file));
}

int main(int argc, char **argv)
{
    check_begin(&argc, &argv);
    told();
    by_file();
    prefixed();
    buffering("enable", "enable", 1);
    buffering("disable", "automatic", size);
    sieving_reads("enable", 1);
    sieving_reads("disable", PIECES);
    sieving_writes("enable", 1);
    sieving_writes("disable", PIECES);
    return check_end();
}
