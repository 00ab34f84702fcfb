/* Error handlers of files (section 9.3.3): errors are returned by default, and what MPI_FILE_NULL has, new files get. */
#include "file.h"

static int calls, code_seen, class_seen;
static MPI_File file_seen;

static void handle(MPI_File *file, int *code, ...)
{
    calls++;
    file_seen = *file;
    code_seen = *code;
    MPI_Error_class(*code, &class_seen);
}

static void handle_world(MPI_Comm *communicator, int *code, ...)
{
    (void)communicator, (void)code;
}

int main(int argc, char **argv)
{
    check_begin(&argc, &argv);
    MPI_Errhandler mine, found, other;
    MPI_File file, second;
    OK(MPI_File_get_errhandler(MPI_FILE_NULL, &found));
    CHECK(found == MPI_ERRORS_RETURN);
    OK(MPI_File_create_errhandler(handle, &mine));
    file = scratch("default");
    OK(MPI_File_get_errhandler(file, &found));
    CHECK(found == MPI_ERRORS_RETURN);
    FAILS(MPI_ERR_ARG, MPI_File_seek(file, -1, MPI_SEEK_SET));
    OK(MPI_File_set_errhandler(file, mine));
    OK(MPI_File_get_errhandler(file, &found));
    CHECK(found != MPI_ERRHANDLER_NULL);
    OK(MPI_Errhandler_free(&found));
    FAILS(MPI_ERR_ARG, MPI_File_seek(file, -1, MPI_SEEK_SET));
    CHECK_EQ(calls, 1);
    CHECK(file_seen == file);
    CHECK_EQ(class_seen, MPI_ERR_ARG);
    OK(MPI_File_call_errhandler(file, MPI_ERR_IO));
    CHECK_EQ(calls, 2);
    CHECK_EQ(code_seen, MPI_ERR_IO);
    /* Errors of calls without a file are those of MPI_FILE_NULL. */
    FAILS(MPI_ERR_NO_SUCH_FILE, MPI_File_delete(path_of("nothing"), MPI_INFO_NULL));
    CHECK_EQ(calls, 2);
    OK(MPI_File_set_errhandler(MPI_FILE_NULL, mine));
    OK(MPI_Errhandler_free(&mine));
    FAILS(MPI_ERR_NO_SUCH_FILE, MPI_File_delete(path_of("nothing"), MPI_INFO_NULL));
    FAILS(MPI_ERR_NO_SUCH_FILE,
          MPI_File_open(MPI_COMM_WORLD, path_of("nothing"), MPI_MODE_RDONLY, MPI_INFO_NULL, &second));
    CHECK_EQ(calls, 4);
    CHECK(file_seen == MPI_FILE_NULL);
    FAILS(MPI_ERR_FILE, MPI_File_sync(MPI_FILE_NULL));
    CHECK_EQ(calls, 5);
    second = scratch("inherits");
    OK(MPI_File_set_errhandler(MPI_FILE_NULL, MPI_ERRORS_RETURN));
    FAILS(MPI_ERR_ARG, MPI_File_seek(second, -1, MPI_SEEK_SET));
    CHECK_EQ(calls, 6);
    OK(MPI_File_close(&second));
    OK(MPI_File_set_errhandler(file, MPI_ERRORS_RETURN));
    FAILS(MPI_ERR_ARG, MPI_File_seek(file, -1, MPI_SEEK_SET));
    CHECK_EQ(calls, 6);
    OK(MPI_Comm_create_errhandler(handle_world, &other));
    FAILS(MPI_ERR_ERRHANDLER, MPI_File_set_errhandler(file, other));
    OK(MPI_Errhandler_free(&other));
    OK(MPI_File_close(&file));
    FAILS(MPI_ERR_FILE, MPI_File_close(&file));
    return check_end();
}
