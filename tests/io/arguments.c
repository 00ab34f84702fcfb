/* Arguments that are wrong, or allowed though they look so (MPI 5.0, chapter 14): sequential files, filetypes that overlap, offsets
 * that no file has, names that are no text. */
#include "file.h"

#include <limits.h>
#include <unistd.h>

/* Calls that make no sense where there is only the shared file pointer. */
static void sequential(void)
{
    MPI_File file;
    MPI_Offset offset;
    int value = 0, mode = MPI_MODE_WRONLY | MPI_MODE_CREATE | MPI_MODE_SEQUENTIAL | MPI_MODE_DELETE_ON_CLOSE;
    OK(MPI_File_open(MPI_COMM_WORLD, path_of("sequence"), mode, MPI_INFO_NULL, &file));
    FAILS(MPI_ERR_UNSUPPORTED_OPERATION, MPI_File_set_size(file, 4));
    FAILS(MPI_ERR_UNSUPPORTED_OPERATION, MPI_File_preallocate(file, 4));
    FAILS(MPI_ERR_UNSUPPORTED_OPERATION, MPI_File_write_at(file, 0, &value, 1, MPI_INT, MPI_STATUS_IGNORE));
    FAILS(MPI_ERR_UNSUPPORTED_OPERATION, MPI_File_write_all(file, &value, 1, MPI_INT, MPI_STATUS_IGNORE));
    FAILS(MPI_ERR_UNSUPPORTED_OPERATION, MPI_File_seek_shared(file, 0, MPI_SEEK_SET));
    FAILS(MPI_ERR_UNSUPPORTED_OPERATION, MPI_File_get_byte_offset(file, 0, &offset));
    OK(MPI_File_write_ordered(file, &value, 1, MPI_INT, MPI_STATUS_IGNORE));
    wait_for_all();
    OK(MPI_File_get_size(file, &offset));
    CHECK_EQ(offset, (long long)sizeof value * size);
    OK(MPI_File_close(&file));
}

/* Parts of a filetype may overlap only if nothing is written. */
static void overlapping(void)
{
    MPI_File file;
    MPI_Datatype twice, backwards;
    Count lengths[2] = {2, 1}, places[2] = {0, 1};
    int values[6] = {0, 1, 2, 3, 4, 5}, found[6] = {0};
    OK(MPI_Type_indexed(2, lengths, places, MPI_INT, &twice));
    OK(MPI_Type_commit(&twice));
    OK(MPI_Type_create_resized(MPI_INT, 0, -4, &backwards));
    OK(MPI_Type_commit(&backwards));
    OK(MPI_File_open(MPI_COMM_WORLD, path_of("overlap"), MPI_MODE_RDWR | MPI_MODE_CREATE, MPI_INFO_NULL, &file));
    FAILS(MPI_ERR_ARG, MPI_File_set_view(file, 0, MPI_INT, twice, "native", MPI_INFO_NULL));
    FAILS(MPI_ERR_ARG, MPI_File_set_view(file, 0, MPI_INT, backwards, "native", MPI_INFO_NULL));
    if (rank == 0) {
        OK(MPI_File_write(file, values, 6, MPI_INT, MPI_STATUS_IGNORE));
    }
    OK(MPI_File_close(&file));
    OK(MPI_File_open(MPI_COMM_WORLD, path_of("overlap"), MPI_MODE_RDONLY | MPI_MODE_DELETE_ON_CLOSE, MPI_INFO_NULL,
                     &file));
    OK(MPI_File_set_view(file, 0, MPI_INT, twice, "native", MPI_INFO_NULL));
    OK(MPI_File_read(file, found, 6, MPI_INT, MPI_STATUS_IGNORE));
    CHECK(found[0] == 0 && found[1] == 1 && found[2] == 1 && found[3] == 2 && found[4] == 3 && found[5] == 3);
    OK(MPI_File_close(&file));
    OK(MPI_Type_free(&twice));
    OK(MPI_Type_free(&backwards));
}

/* Offsets that lead further than a file can. */
static void far(void)
{
    MPI_File file = scratch("far");
    MPI_Offset offset;
    MPI_Datatype sparse;
    MPI_Request request;
    int value = 1;
    OK(MPI_Type_create_resized(MPI_INT, 0, 1 << 20, &sparse));
    OK(MPI_Type_commit(&sparse));
    for (int i = 0; i < 2; i++) {
        MPI_Offset many = (i == 0 ? LLONG_MAX : LLONG_MAX >> 15) - 1;
        OK(MPI_File_set_view(file, 0, MPI_INT, i == 0 ? MPI_INT : sparse, "native", MPI_INFO_NULL));
        FAILS(MPI_ERR_ARG, MPI_File_write_at(file, many, &value, 1, MPI_INT, MPI_STATUS_IGNORE));
        FAILS(MPI_ERR_ARG, MPI_File_read_at(file, many, &value, 1, MPI_INT, MPI_STATUS_IGNORE));
        FAILS(MPI_ERR_ARG, MPI_File_iread_at(file, many, &value, 1, MPI_INT, &request));
        FAILS(MPI_ERR_ARG, MPI_File_write_at_all(file, many, &value, 1, MPI_INT, MPI_STATUS_IGNORE));
        FAILS(MPI_ERR_ARG, MPI_File_get_byte_offset(file, many, &offset));
        OK(MPI_File_seek(file, many, MPI_SEEK_SET));
        FAILS(MPI_ERR_ARG, MPI_File_write(file, &value, 1, MPI_INT, MPI_STATUS_IGNORE));
        FAILS(MPI_ERR_ARG, MPI_File_seek(file, LLONG_MAX, MPI_SEEK_CUR));
    }
    OK(MPI_File_get_size(file, &offset));
    CHECK_EQ(offset, 0);
    OK(MPI_Type_free(&sparse));
    OK(MPI_File_close(&file));
}

/* The representation must be the same everywhere; the name of a file is bytes. */
static void names(void)
{
    MPI_File file = scratch("representation");
    if (size > 1) {
        const char *mine = rank == 0 ? "native" : "external32";
        FAILS(MPI_ERR_NOT_SAME, MPI_File_set_view(file, 0, MPI_INT, MPI_INT, mine, MPI_INFO_NULL));
    }
    OK(MPI_File_close(&file));
    file = scratch("latin \xe9\xff");
    wait_for_all();
    CHECK(access(path_of("latin \xe9\xff"), F_OK) == 0);
    OK(MPI_File_close(&file));
    FAILS(MPI_ERR_NO_SUCH_FILE, MPI_File_delete(path_of("latin \xe9\xff"), MPI_INFO_NULL));
}

int main(int argc, char **argv)
{
    check_begin(&argc, &argv);
    sequential();
    overlapping();
    far();
    names();
    return check_end();
}
