/* What MPI says of errors of files (sections 9.4 and 14.7): the class is the standard's, and the text names the file. */
#include "file.h"

/* A call has failed with this code for a file of this name. */
static void names(int code, int class, const char *name)
{
    char text[MPI_MAX_ERROR_STRING] = "";
    int length = 0, found = 0;
    CHECK(code != MPI_SUCCESS);
    OK(MPI_Error_class(code, &found));
    CHECK_EQ(found, class);
    OK(MPI_Error_string(code, text, &length));
    CHECK_EQ(length, strlen(text));
    if (strstr(text, name) == NULL) {
        fprintf(stderr, "rank %d: %s is not in: %s\n", rank, name, text);
        check_failures++;
    }
}

int main(int argc, char **argv)
{
    check_begin(&argc, &argv);
    MPI_File file, other;
    char name[40];
    /* More than a library remembers. */
    for (int i = 0; i < 50; i++) {
        snprintf(name, sizeof name, "missing-%d", i % 40);
        int code = MPI_File_open(MPI_COMM_WORLD, path_of(name), MPI_MODE_RDONLY, MPI_INFO_NULL, &other);
        names(code, MPI_ERR_NO_SUCH_FILE, name);
        names(MPI_File_delete(path_of(name), MPI_INFO_NULL), MPI_ERR_NO_SUCH_FILE, name);
    }
    names(MPI_File_open(MPI_COMM_WORLD, path_of("modes"), 0, MPI_INFO_NULL, &other), MPI_ERR_AMODE, "modes");
    file = scratch("seeking");
    names(MPI_File_seek(file, -1, MPI_SEEK_SET), MPI_ERR_ARG, "seeking");
    names(MPI_File_set_size(file, -1), MPI_ERR_ARG, "seeking");
    names(MPI_File_write_at(file, -1, name, 1, MPI_BYTE, MPI_STATUS_IGNORE), MPI_ERR_ARG, "seeking");
    OK(MPI_File_close(&file));
    OK(MPI_File_open(MPI_COMM_WORLD, "/dev/full", MPI_MODE_WRONLY, MPI_INFO_NULL, &file));
    names(MPI_File_write(file, name, 1, MPI_BYTE, MPI_STATUS_IGNORE), MPI_ERR_NO_SPACE, "/dev/full");
    names(MPI_File_read(file, name, 1, MPI_BYTE, MPI_STATUS_IGNORE), MPI_ERR_ACCESS, "/dev/full");
    OK(MPI_File_close(&file));
    return check_end();
}
