/* Sessions without MPI_Init (MPI 5.0, section 11.3): several at the same time and one after another, process sets, information,
 * and MPI_Init when they are over. */
#include "session.h"

static void sets(MPI_Session session)
{
    int count = 0, length, world_there = 0, self_there = 0, flag = 0;
    char name[MPI_MAX_PSET_NAME_LEN], value[32];
    MPI_Info info;
    MPI_Group group;
    OK(MPI_Session_get_num_psets(session, MPI_INFO_NULL, &count));
    CHECK(count >= 2);
    for (int i = 0; i < count; i++) {
        int needed = 0, got = (int)sizeof name;
        OK(MPI_Session_get_nth_pset(session, MPI_INFO_NULL, i, &needed, NULL));
        OK(MPI_Session_get_nth_pset(session, MPI_INFO_NULL, i, &got, name));
        CHECK_EQ(needed, strlen(name) + 1);
        CHECK_EQ(got, needed);
        world_there |= strcmp(name, "mpi://WORLD") == 0;
        self_there |= strcmp(name, "mpi://SELF") == 0;
        got = 4;
        OK(MPI_Session_get_nth_pset(session, MPI_INFO_NULL, i, &got, name));
        CHECK_EQ(got, needed);
        CHECK(strcmp(name, "mpi") == 0);
    }
    CHECK(world_there && self_there);
    length = (int)sizeof name;
    FAILS(MPI_ERR_ARG, MPI_Session_get_nth_pset(session, MPI_INFO_NULL, count, &length, name));
    FAILS(MPI_ERR_ARG, MPI_Session_get_pset_info(session, "mpi://NOWHERE", &info));
    FAILS(MPI_ERR_ARG, MPI_Group_from_session_pset(session, "mpi://NOWHERE", &group));
    OK(MPI_Session_get_pset_info(session, "mpi://SELF", &info));
    length = sizeof value;
    OK(MPI_Info_get_string(info, "mpi_size", &length, value, &flag));
    CHECK(flag && strcmp(value, "1") == 0);
    OK(MPI_Info_free(&info));
}

static void information(void)
{
    MPI_Session session;
    MPI_Info info;
    int flag = 0, length = 64;
    char value[64];
    OK(MPI_Info_create(&info));
    OK(MPI_Info_set(info, "thread_level", "MPI_THREAD_MULTIPLE"));
    OK(MPI_Session_init(info, MPI_ERRORS_RETURN, &session));
    OK(MPI_Info_free(&info));
    OK(MPI_Session_get_info(session, &info));
    OK(MPI_Info_get_string(info, "thread_level", &length, value, &flag));
    CHECK(flag && strcmp(value, "MPI_THREAD_MULTIPLE") == 0);
    OK(MPI_Info_free(&info));
    OK(MPI_Session_finalize(&session));
    CHECK(session == MPI_SESSION_NULL);

    OK(MPI_Info_create(&info));
    OK(MPI_Info_set(info, "thread_level", "MPI_THREAD_NONE"));
    CHECK_EQ(MPI_Session_init(info, MPI_ERRORS_RETURN, &session), MPI_ERR_INFO_VALUE);
    OK(MPI_Info_free(&info));
}

static void two_at_once(void)
{
    MPI_Session one = begin_session(), other = begin_session();
    MPI_Comm first = communicator_of(one, "mpi://WORLD", "first"), second = communicator_of(other, "mpi://WORLD", "second");
    MPI_Comm own = communicator_of(one, "mpi://SELF", "own"), copy;
    int in = -1, number = -1;
    CHECK(one != other);
    OK(MPI_Comm_rank(first, &rank));
    OK(MPI_Comm_size(first, &size));
    check_sum(first);
    OK(MPI_Comm_free(&first));
    OK(MPI_Session_finalize(&one));
    check_sum(second);
    OK(MPI_Comm_dup(second, &copy));
    OK(MPI_Comm_free(&second));
    OK(MPI_Sendrecv(&rank, 1, MPI_INT, (rank + 1) % size, 1, &in, 1, MPI_INT, (rank + size - 1) % size, 1, copy,
                    MPI_STATUS_IGNORE));
    CHECK_EQ(in, (rank + size - 1) % size);
    OK(MPI_Comm_size(own, &number));
    CHECK_EQ(number, 1);
    OK(MPI_Comm_free(&own));
    OK(MPI_Comm_free(&copy));
    OK(MPI_Session_finalize(&other));
}

int main(int argc, char **argv)
{
    int flag = 1;
    MPI_Session session;
    for (int turn = 0; turn < 3; turn++) {
        MPI_Comm comm;
        session = begin_session();
        OK(MPI_Initialized(&flag));
        CHECK_EQ(flag, 0);
        comm = communicator_of(session, "mpi://WORLD", "again");
        check_sum(comm);
        OK(MPI_Comm_free(&comm));
        sets(session);
        OK(MPI_Session_finalize(&session));
        CHECK(session == MPI_SESSION_NULL);
    }
    two_at_once();
    information();

    check_begin(&argc, &argv);
    check_sum(MPI_COMM_WORLD);
    session = begin_session();
    OK(MPI_Finalize());
    OK(MPI_Finalized(&flag));
    CHECK_EQ(flag, 1);
    /* A session goes on when MPI_Finalize is over, and another may begin. */
    for (int turn = 0; turn < 2; turn++) {
        MPI_Comm comm = communicator_of(session, "mpi://WORLD", "after");
        check_sum(comm);
        OK(MPI_Comm_free(&comm));
        OK(MPI_Session_finalize(&session));
        session = turn == 0 ? begin_session() : session;
    }
    return check_failures != 0;
}
