/* Errors of nonblocking accesses (sections 9.3 and 14.4.1): they come with the request, and go to the error handler of its file,
 * whatever that of MPI_COMM_SELF is. */
#include "file.h"

static int calls, class_seen;
static MPI_File file_seen;

static void handle(MPI_File *file, int *code, ...)
{
    calls++;
    file_seen = *file;
    MPI_Error_class(*code, &class_seen);
}

/* A device that has no room for anything. */
static MPI_File full(void)
{
    MPI_File file;
    OK(MPI_File_open(MPI_COMM_WORLD, "/dev/full", MPI_MODE_WRONLY, MPI_INFO_NULL, &file));
    return file;
}

static void one(MPI_File file, const int *value)
{
    MPI_Request request, several[2] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};
    MPI_Status status, statuses[2];
    int flag = 0;
    OK(MPI_File_iwrite_at(file, 0, value, 1, MPI_INT, &request));
    FAILS(MPI_ERR_NO_SPACE, MPI_Wait(&request, &status));
    CHECK(request == MPI_REQUEST_NULL);
    OK(MPI_File_iwrite(file, value, 1, MPI_INT, &several[1]));
    FAILS(MPI_ERR_IN_STATUS, MPI_Waitall(2, several, statuses));
    CHECK_EQ(statuses[0].MPI_ERROR, MPI_SUCCESS);
    CHECK_EQ(statuses[1].MPI_ERROR, MPI_ERR_NO_SPACE);
    OK(MPI_File_iwrite_shared(file, value, 1, MPI_INT, &request));
    while (!flag) {
        int code = MPI_Request_get_status(request, &flag, &status);
        if (flag) {
            FAILS(MPI_ERR_NO_SPACE, code);
        } else {
            OK(code);
        }
    }
    FAILS(MPI_ERR_NO_SPACE, MPI_Wait(&request, MPI_STATUS_IGNORE));
}

int main(int argc, char **argv)
{
    int value = 1;
    check_begin(&argc, &argv);
    MPI_Errhandler mine;
    MPI_File file = full();
    OK(MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_ARE_FATAL));
    one(file, &value);
    OK(MPI_File_create_errhandler(handle, &mine));
    OK(MPI_File_set_errhandler(file, mine));
    OK(MPI_Errhandler_free(&mine));
    one(file, &value);
    CHECK_EQ(calls, 4);
    CHECK(file_seen == file);
    CHECK_EQ(class_seen, MPI_ERR_NO_SPACE);
    FAILS(MPI_ERR_NO_SPACE, MPI_File_write_all(file, &value, 1, MPI_INT, MPI_STATUS_IGNORE));
    CHECK_EQ(calls, 5);
    OK(MPI_File_close(&file));
    return check_end();
}
