/* Start and end of MPI (MPI 5.0, sections 11.2 to 11.6): what may be called before and after, thread levels, and the
 * deletion of the attributes of MPI_COMM_SELF as the first step of MPI_Finalize, last set first. */
#include "../check.h"

static int order[3], deleted, finalized_seen = -1;

static int delete(MPI_Comm comm, int keyval, void *value, void *extra)
{
    int me = -1;
    (void)keyval;
    (void)extra;
    CHECK(comm == MPI_COMM_SELF);
    MPI_Finalized(&finalized_seen);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    CHECK_EQ(me, rank);
    order[deleted++ % 3] = (int)(intptr_t)value;
    return MPI_SUCCESS;
}

static void check_state(int initialized, int finalized)
{
    int flag = -1;
    OK(MPI_Initialized(&flag));
    CHECK_EQ(flag, initialized);
    OK(MPI_Finalized(&flag));
    CHECK_EQ(flag, finalized);
}

static void always_allowed(void)
{
    int version = 0, subversion = -1, length;
    static char text[MPI_MAX_LIBRARY_VERSION_STRING];
    OK(MPI_Get_version(&version, &subversion));
    // A library may be newer than the header that this was compiled with.
    CHECK(version > MPI_VERSION || (version == MPI_VERSION && subversion >= MPI_SUBVERSION));
    OK(MPI_Get_library_version(text, &length));
    CHECK(length > 0 && strlen(text) == (size_t)length);
}

int main(int argc, char **argv)
{
    int provided = -1, flag = 0, keyvals[3];
    check_state(0, 0);
    always_allowed();
    check_begin(&argc, &argv);
    check_state(1, 0);
    OK(MPI_Query_thread(&provided));
    CHECK(provided == MPI_THREAD_SINGLE || provided == MPI_THREAD_FUNNELED || provided == MPI_THREAD_SERIALIZED ||
          provided == MPI_THREAD_MULTIPLE);
    OK(MPI_Is_thread_main(&flag));
    CHECK(flag);
    for (int i = 0; i < 3; i++) {
        OK(MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, delete, &keyvals[i], NULL));
        OK(MPI_Comm_set_attr(MPI_COMM_SELF, keyvals[i], (void *)(intptr_t)(i + 1)));
    }
    OK(MPI_Finalize());
    CHECK_EQ(finalized_seen, 0);
    CHECK_EQ(deleted, 3);
    CHECK(order[0] == 3 && order[1] == 2 && order[2] == 1);
    check_state(1, 1);
    always_allowed();
    return check_failures != 0;
}
