/* Error handlers of windows, files and sessions, and attribute keys of windows, can be made and freed before there are
 * such objects (MPI 5.0, sections 7.7.3 and 9.3). The Fortran facts of the ABI are an info object (section 20.4). */
#include "../check.h"

static void on_window(MPI_Win *window, int *code, ...)
{
    (void)window, (void)code;
}

static void on_file(MPI_File *file, int *code, ...)
{
    (void)file, (void)code;
}

static void on_session(MPI_Session *session, int *code, ...)
{
    (void)session, (void)code;
}

int main(int argc, char **argv)
{
    MPI_Errhandler handlers[3];
    MPI_Info info = MPI_INFO_NULL;
    int keyval = MPI_KEYVAL_INVALID;
    check_begin(&argc, &argv);
    OK(MPI_Win_create_errhandler(on_window, &handlers[0]));
    OK(MPI_File_create_errhandler(on_file, &handlers[1]));
    OK(MPI_Session_create_errhandler(on_session, &handlers[2]));
    for (int i = 0; i < 3; i++) {
        CHECK(handlers[i] != MPI_ERRHANDLER_NULL);
        OK(MPI_Errhandler_free(&handlers[i]));
        CHECK(handlers[i] == MPI_ERRHANDLER_NULL);
    }
    OK(MPI_Win_create_keyval(MPI_WIN_NULL_COPY_FN, MPI_WIN_NULL_DELETE_FN, &keyval, NULL));
    CHECK(keyval != MPI_KEYVAL_INVALID);
    FAILS(MPI_ERR_KEYVAL, MPI_Comm_set_attr(MPI_COMM_SELF, keyval, NULL));
    OK(MPI_Win_free_keyval(&keyval));
    CHECK_EQ(keyval, MPI_KEYVAL_INVALID);
    OK(MPI_Abi_get_fortran_info(&info));
    if (info != MPI_INFO_NULL) {
        OK(MPI_Info_free(&info));
    }
    return check_end();
}
