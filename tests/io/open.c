/* Opening, closing and deleting files; what is asked and said of a file as a whole (section 14.2). */
#include "file.h"

#include <sys/stat.h>

static long long size_of(MPI_File file)
{
    MPI_Offset bytes;
    OK(MPI_File_get_size(file, &bytes));
    return (long long)bytes;
}

static void modes(void)
{
    static const int wrong[] = {
        0,
        MPI_MODE_CREATE,
        MPI_MODE_RDONLY | MPI_MODE_RDWR,
        MPI_MODE_RDONLY | MPI_MODE_WRONLY,
        MPI_MODE_RDONLY | MPI_MODE_CREATE,
        MPI_MODE_RDONLY | MPI_MODE_EXCL,
        MPI_MODE_RDWR | MPI_MODE_SEQUENTIAL | MPI_MODE_CREATE,
    };
    MPI_File file;
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        FAILS(MPI_ERR_AMODE, MPI_File_open(MPI_COMM_WORLD, path_of("modes"), wrong[i], MPI_INFO_NULL, &file));
    }
    if (size > 1) {
        int mode = MPI_MODE_CREATE | (rank == 0 ? MPI_MODE_RDWR : MPI_MODE_WRONLY);
        FAILS(MPI_ERR_NOT_SAME, MPI_File_open(MPI_COMM_WORLD, path_of("modes"), mode, MPI_INFO_NULL, &file));
    }
    FAILS(MPI_ERR_COMM, MPI_File_open(MPI_COMM_NULL, path_of("modes"), MPI_MODE_RDONLY, MPI_INFO_NULL, &file));
}

static void missing_and_existing(void)
{
    MPI_File file;
    const char *path = path_of("existing");
    int mode = MPI_MODE_CREATE | MPI_MODE_EXCL | MPI_MODE_WRONLY;
    FAILS(MPI_ERR_NO_SUCH_FILE, MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_RDONLY, MPI_INFO_NULL, &file));
    FAILS(MPI_ERR_NO_SUCH_FILE, MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_RDWR, MPI_INFO_NULL, &file));
    wait_for_all();
    OK(MPI_File_open(MPI_COMM_WORLD, path, mode, MPI_INFO_NULL, &file));
    OK(MPI_File_close(&file));
    CHECK(file == MPI_FILE_NULL);
    FAILS(MPI_ERR_FILE_EXISTS, MPI_File_open(MPI_COMM_WORLD, path, mode, MPI_INFO_NULL, &file));
    FAILS(MPI_ERR_BAD_FILE, MPI_File_open(MPI_COMM_WORLD, path_of("existing/below"), MPI_MODE_RDONLY,
                                          MPI_INFO_NULL, &file));
    wait_for_all();
    if (rank == 0) {
        OK(MPI_File_delete(path, MPI_INFO_NULL));
        FAILS(MPI_ERR_NO_SUCH_FILE, MPI_File_delete(path, MPI_INFO_NULL));
    }
    wait_for_all();
    FAILS(MPI_ERR_BAD_FILE, MPI_File_open(MPI_COMM_WORLD, path_of("."), MPI_MODE_RDONLY, MPI_INFO_NULL, &file));
}

static void deleted_on_close(void)
{
    struct stat found;
    MPI_File file = scratch("goes");
    wait_for_all();
    CHECK(stat(path_of("goes"), &found) == 0);
    OK(MPI_File_close(&file));
    wait_for_all();
    CHECK(stat(path_of("goes"), &found) != 0);
}

static void sizes(void)
{
    MPI_File file = scratch("sizes");
    char byte = 1;
    CHECK_EQ(size_of(file), 0);
    OK(MPI_File_set_size(file, 100000));
    CHECK_EQ(size_of(file), 100000);
    OK(MPI_File_read_at(file, 99999, &byte, 1, MPI_BYTE, MPI_STATUS_IGNORE));
    CHECK_EQ(byte, 0);
    wait_for_all();
    OK(MPI_File_set_size(file, 10));
    CHECK_EQ(size_of(file), 10);
    wait_for_all();
    OK(MPI_File_preallocate(file, 70000));
    CHECK_EQ(size_of(file), 70000);
    wait_for_all();
    OK(MPI_File_preallocate(file, 20));
    OK(MPI_File_preallocate(file, 0));
    CHECK_EQ(size_of(file), 70000);
    FAILS(MPI_ERR_ARG, MPI_File_set_size(file, -1));
    FAILS(MPI_ERR_ARG, MPI_File_preallocate(file, -1));
    if (size > 1) {
        FAILS(MPI_ERR_NOT_SAME, MPI_File_set_size(file, 5 + rank));
    }
    OK(MPI_File_sync(file));
    OK(MPI_File_close(&file));
}

static void read_only(void)
{
    MPI_File file;
    char byte = 0;
    int mode, result;
    MPI_Group group, world;
    MPI_Request request;
    OK(MPI_File_open(MPI_COMM_WORLD, path_of("access"), MPI_MODE_WRONLY | MPI_MODE_CREATE, MPI_INFO_NULL, &file));
    FAILS(MPI_ERR_ACCESS, MPI_File_read_at(file, 0, &byte, 1, MPI_BYTE, MPI_STATUS_IGNORE));
    FAILS(MPI_ERR_ACCESS, MPI_File_iread_at(file, 0, &byte, 1, MPI_BYTE, &request));
    OK(MPI_File_write_at(file, rank, &byte, 1, MPI_BYTE, MPI_STATUS_IGNORE));
    OK(MPI_File_close(&file));
    OK(MPI_File_open(MPI_COMM_WORLD, path_of("access"), MPI_MODE_RDONLY | MPI_MODE_DELETE_ON_CLOSE, MPI_INFO_NULL,
                     &file));
    FAILS(MPI_ERR_READ_ONLY, MPI_File_write_at(file, 0, &byte, 1, MPI_BYTE, MPI_STATUS_IGNORE));
    FAILS(MPI_ERR_READ_ONLY, MPI_File_set_size(file, 0));
    FAILS(MPI_ERR_READ_ONLY, MPI_File_preallocate(file, 9));
    OK(MPI_File_sync(file));
    OK(MPI_File_get_amode(file, &mode));
    CHECK_EQ(mode, MPI_MODE_RDONLY | MPI_MODE_DELETE_ON_CLOSE);
    OK(MPI_File_get_group(file, &group));
    OK(MPI_Comm_group(MPI_COMM_WORLD, &world));
    OK(MPI_Group_compare(group, world, &result));
    CHECK_EQ(result, MPI_IDENT);
    OK(MPI_Group_free(&group));
    OK(MPI_Group_free(&world));
    CHECK_EQ(size_of(file), size);
    OK(MPI_File_close(&file));
}

static int has(MPI_Info info, const char *key, const char *expected)
{
    char value[100];
    int length = sizeof value, flag;
    OK(MPI_Info_get_string(info, key, &length, value, &flag));
    return flag && strcmp(value, expected) == 0;
}

static void hints(void)
{
    MPI_File file;
    MPI_Info info, used;
    struct stat found;
    OK(MPI_Info_create(&info));
    OK(MPI_Info_set(info, "cb_buffer_size", "8192"));
    OK(MPI_Info_set(info, "cb_nodes", "1"));
    OK(MPI_Info_set(info, "striping_factor", "4"));
    OK(MPI_Info_set(info, "file_perm", "600"));
    OK(MPI_File_open(MPI_COMM_WORLD, path_of("hints"),
                     MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_UNIQUE_OPEN | MPI_MODE_DELETE_ON_CLOSE, info, &file));
    OK(MPI_File_get_info(file, &used));
    CHECK(has(used, "cb_buffer_size", "8192"));
    CHECK(has(used, "cb_nodes", "1"));
    CHECK(has(used, "collective_buffering", "true"));
    CHECK(!has(used, "striping_factor", "4"));
    CHECK(has(used, "mpi_memory_alloc_kinds", "mpi,system"));
    CHECK(stat(path_of("hints"), &found) == 0 && (found.st_mode & 0777) == 0600);
    OK(MPI_Info_free(&used));
    OK(MPI_Info_set(info, "cb_buffer_size", "nonsense"));
    OK(MPI_Info_set(info, "collective_buffering", "false"));
    OK(MPI_File_set_info(file, info));
    OK(MPI_File_get_info(file, &used));
    CHECK(has(used, "cb_buffer_size", "8192"));
    CHECK(has(used, "collective_buffering", "false"));
    OK(MPI_Info_free(&used));
    OK(MPI_Info_free(&info));
    OK(MPI_File_set_info(file, MPI_INFO_NULL));
    OK(MPI_File_close(&file));
}

/* Files of parts of the processes, several at once, and closed in another order. */
static void several(void)
{
    enum { FILES = 5 };
    MPI_File files[FILES], own;
    MPI_Comm half;
    char name[40];
    int value, half_rank;
    for (int i = 0; i < FILES; i++) {
        snprintf(name, sizeof name, "several-%d", i);
        files[i] = scratch(name);
        value = 100 * i + rank;
        OK(MPI_File_write_at(files[i], (MPI_Offset)sizeof value * rank, &value, 1, MPI_INT, MPI_STATUS_IGNORE));
    }
    snprintf(name, sizeof name, "own-%d", rank);
    OK(MPI_File_open(MPI_COMM_SELF, path_of(name), MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE,
                     MPI_INFO_NULL, &own));
    OK(MPI_File_write(own, &rank, 1, MPI_INT, MPI_STATUS_IGNORE));
    CHECK_EQ(size_of(own), sizeof rank);
    OK(MPI_File_close(&own));
    OK(MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &half));
    OK(MPI_Comm_rank(half, &half_rank));
    snprintf(name, sizeof name, "half-%d", rank % 2);
    OK(MPI_File_open(half, path_of(name), MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE, MPI_INFO_NULL,
                     &own));
    OK(MPI_Comm_free(&half));
    OK(MPI_File_write_at_all(own, (MPI_Offset)sizeof rank * half_rank, &rank, 1, MPI_INT, MPI_STATUS_IGNORE));
    wait_for_all();
    for (int i = FILES - 1; i >= 0; i--) {
        OK(MPI_File_read_at(files[i], (MPI_Offset)sizeof value * ((rank + 1) % size), &value, 1, MPI_INT,
                            MPI_STATUS_IGNORE));
        CHECK_EQ(value, 100 * i + (rank + 1) % size);
        OK(MPI_File_close(&files[i]));
    }
    OK(MPI_File_read_at_all(own, (MPI_Offset)sizeof rank * half_rank, &value, 1, MPI_INT, MPI_STATUS_IGNORE));
    CHECK_EQ(value, rank);
    OK(MPI_File_close(&own));
}

static void appending(void)
{
    MPI_File file;
    MPI_Offset position;
    int value = rank;
    int mode = MPI_MODE_CREATE | MPI_MODE_WRONLY;
    OK(MPI_File_open(MPI_COMM_WORLD, path_of("append"), mode, MPI_INFO_NULL, &file));
    OK(MPI_File_set_size(file, 12));
    OK(MPI_File_close(&file));
    OK(MPI_File_open(MPI_COMM_WORLD, path_of("append"), MPI_MODE_RDWR | MPI_MODE_APPEND | MPI_MODE_DELETE_ON_CLOSE,
                     MPI_INFO_NULL, &file));
    OK(MPI_File_get_position(file, &position));
    CHECK_EQ(position, 12);
    OK(MPI_File_get_position_shared(file, &position));
    CHECK_EQ(position, 12);
    OK(MPI_File_write_ordered(file, &value, 1, MPI_INT, MPI_STATUS_IGNORE));
    OK(MPI_File_sync(file));
    wait_for_all();
    OK(MPI_File_read_at(file, 12 + (MPI_Offset)sizeof value * rank, &value, 1, MPI_INT, MPI_STATUS_IGNORE));
    CHECK_EQ(value, rank);
    OK(MPI_File_close(&file));
}

int main(int argc, char **argv)
{
    check_begin(&argc, &argv);
    modes();
    missing_and_existing();
    deleted_on_close();
    sizes();
    read_only();
    hints();
    several();
    appending();
    return check_end();
}
