/* Sessions beside MPI_COMM_WORLD (MPI 5.0, sections 3.6, 7.4.2, 7.6.2, 9.3.4 and 11.3): error handlers, attached buffers,
 * and communicators that are made of groups. */
#include "session.h"

static MPI_Session handled_session;
static int handled_code, handled_calls;

static void handle(MPI_Session *session, int *code, ...)
{
    handled_session = *session;
    handled_code = *code;
    handled_calls++;
}

static void ignore(MPI_Comm *comm, int *code, ...)
{
    (void)comm;
    (void)code;
}

static void error_handlers(void)
{
    MPI_Session session;
    MPI_Errhandler handler, found, wrong;
    MPI_Group group;
    OK(MPI_Session_create_errhandler(handle, &handler));
    OK(MPI_Comm_create_errhandler(ignore, &wrong));
    OK(MPI_Session_init(MPI_INFO_NULL, handler, &session));
    OK(MPI_Session_get_errhandler(session, &found));
    CHECK(found == handler);
    OK(MPI_Errhandler_free(&found));
    OK(MPI_Errhandler_free(&handler));
    FAILS(MPI_ERR_ARG, MPI_Group_from_session_pset(session, "nothing", &group));
    CHECK_EQ(handled_calls, 1);
    CHECK_EQ(handled_code, MPI_ERR_ARG);
    CHECK(handled_session == session);
    OK(MPI_Session_call_errhandler(session, MPI_ERR_OTHER));
    CHECK_EQ(handled_calls, 2);
    CHECK_EQ(handled_code, MPI_ERR_OTHER);
    FAILS(MPI_ERR_ERRHANDLER, MPI_Session_set_errhandler(session, wrong));
    CHECK_EQ(handled_calls, 3);
    OK(MPI_Session_set_errhandler(session, MPI_ERRORS_RETURN));
    FAILS(MPI_ERR_ARG, MPI_Group_from_session_pset(session, "nothing", &group));
    CHECK_EQ(handled_calls, 3);
    OK(MPI_Session_get_errhandler(session, &found));
    CHECK(found == MPI_ERRORS_RETURN);
    OK(MPI_Session_finalize(&session));
    FAILS(MPI_ERR_SESSION, MPI_Session_finalize(&session));
    FAILS(MPI_ERR_ERRHANDLER, MPI_Session_init(MPI_INFO_NULL, wrong, &session));
    OK(MPI_Errhandler_free(&wrong));
}

static void buffers(void)
{
    enum { MESSAGES = 5, BYTES = MESSAGES * (4 + MPI_BSEND_OVERHEAD) };
    char *memory = allocate(BYTES);
    void *found = NULL;
    Count bytes = 0;
    MPI_Session session = begin_session();
    MPI_Comm comm = communicator_of(session, "mpi://WORLD", "buffer"), derived;
    MPI_Request request;
    int right = (rank + 1) % size, left = (rank + size - 1) % size, in;
    OK(MPI_Comm_split(comm, 0, rank, &derived));
    FAILS(MPI_ERR_BUFFER, MPI_Bsend(&rank, 1, MPI_INT, right, 1, derived));
    OK(MPI_Session_attach_buffer(session, memory, BYTES));
    FAILS(MPI_ERR_BUFFER, MPI_Session_attach_buffer(session, memory, BYTES));
    for (int i = 0; i < MESSAGES; i++) {
        OK(MPI_Bsend(&rank, 1, MPI_INT, right, i, i % 2 ? comm : derived));
    }
    /* What does not come from the session does not get its buffer. */
    FAILS(MPI_ERR_BUFFER, MPI_Bsend(&rank, 1, MPI_INT, right, 1, MPI_COMM_WORLD));
    for (int i = 0; i < MESSAGES; i++) {
        OK(MPI_Recv(&in, 1, MPI_INT, left, i, i % 2 ? comm : derived, MPI_STATUS_IGNORE));
        CHECK_EQ(in, left);
    }
    OK(MPI_Session_flush_buffer(session));
    OK(MPI_Session_iflush_buffer(session, &request));
    OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    OK(MPI_Session_detach_buffer(session, &found, &bytes));
    CHECK(found == memory);
    CHECK_EQ(bytes, BYTES);
    OK(MPI_Session_attach_buffer(session, MPI_BUFFER_AUTOMATIC, 0));
    OK(MPI_Session_detach_buffer(session, &found, &bytes));
    CHECK(found == MPI_BUFFER_AUTOMATIC);
    OK(MPI_Comm_free(&derived));
    OK(MPI_Comm_free(&comm));
    OK(MPI_Session_finalize(&session));
    free(memory);
}

/* Groups that overlap, at the same time: each pair of neighbours has a communicator of its own. */
static void neighbours(void)
{
    MPI_Group world;
    MPI_Comm comms[2] = {MPI_COMM_NULL, MPI_COMM_NULL};
    OK(MPI_Comm_group(MPI_COMM_WORLD, &world));
    for (int side = 0; side < 2; side++) {
        /* Every second pair first, so that nobody waits in a circle. */
        int low = (rank % 2 == 0) == (side == 0) ? rank : rank - 1;
        int pair[2] = {low, low + 1};
        MPI_Group group;
        if (low < 0 || low + 1 >= size) {
            continue;
        }
        OK(MPI_Group_incl(world, 2, pair, &group));
        OK(MPI_Comm_create_from_group(group, "pair", MPI_INFO_NULL, MPI_ERRORS_RETURN, &comms[side]));
        OK(MPI_Group_free(&group));
        check_sum(comms[side]);
    }
    for (int side = 0; side < 2; side++) {
        if (comms[side] != MPI_COMM_NULL) {
            OK(MPI_Comm_free(&comms[side]));
        }
    }
    OK(MPI_Group_free(&world));
}

static void many_tags(void)
{
    MPI_Group group;
    MPI_Comm comms[20], none = MPI_COMM_WORLD;
    MPI_Errhandler found;
    OK(MPI_Comm_group(MPI_COMM_WORLD, &group));
    for (int i = 0; i < 20; i++) {
        char tag[MPI_MAX_STRINGTAG_LEN];
        snprintf(tag, sizeof tag, "number %d", i / 2);
        OK(MPI_Comm_create_from_group(group, tag, MPI_INFO_NULL, MPI_ERRORS_ABORT, &comms[i]));
        OK(MPI_Comm_get_errhandler(comms[i], &found));
        CHECK(found == MPI_ERRORS_ABORT);
    }
    for (int i = 0; i < 20; i++) {
        check_sum(comms[i]);
        OK(MPI_Comm_free(&comms[i]));
    }
    OK(MPI_Comm_create_from_group(MPI_GROUP_EMPTY, "none", MPI_INFO_NULL, MPI_ERRORS_RETURN, &none));
    CHECK(none == MPI_COMM_NULL);
    FAILS(MPI_ERR_GROUP, MPI_Comm_create_from_group(MPI_GROUP_NULL, "none", MPI_INFO_NULL, MPI_ERRORS_RETURN, &none));
    static char too_long[MPI_MAX_STRINGTAG_LEN + 1];
    memset(too_long, 't', MPI_MAX_STRINGTAG_LEN);
    FAILS(MPI_ERR_ARG, MPI_Comm_create_from_group(group, too_long, MPI_INFO_NULL, MPI_ERRORS_RETURN, &none));
    if (size > 1) {
        int other = (rank + 1) % size;
        MPI_Group without;
        OK(MPI_Group_incl(group, 1, &other, &without));
        FAILS(MPI_ERR_GROUP, MPI_Comm_create_from_group(without, "x", MPI_INFO_NULL, MPI_ERRORS_RETURN, &none));
        OK(MPI_Group_free(&without));
    }
    OK(MPI_Group_free(&group));
}

static void intercommunicator(int local_leader_of_low, int leader_of_high)
{
    MPI_Group world, low, high;
    MPI_Comm inter, merged;
    int half = size / 2, is_low = rank < half, count = 0, place = -1, got = -1;
    int ranges[2][3] = {{0, half - 1, 1}, {half, size - 1, 1}};
    OK(MPI_Comm_group(MPI_COMM_WORLD, &world));
    OK(MPI_Group_range_incl(world, 1, &ranges[0], &low));
    OK(MPI_Group_range_incl(world, 1, &ranges[1], &high));
    OK(MPI_Intercomm_create_from_groups(is_low ? low : high, is_low ? local_leader_of_low : leader_of_high,
                                        is_low ? high : low, is_low ? leader_of_high : local_leader_of_low, "halves",
                                        MPI_INFO_NULL, MPI_ERRORS_RETURN, &inter));
    OK(MPI_Comm_remote_size(inter, &count));
    CHECK_EQ(count, is_low ? size - half : half);
    OK(MPI_Comm_rank(inter, &place));
    CHECK_EQ(place, is_low ? rank : rank - half);
    if (place < half) {
        OK(MPI_Sendrecv(&rank, 1, MPI_INT, place, 3, &got, 1, MPI_INT, place, 3, inter, MPI_STATUS_IGNORE));
        CHECK_EQ(got, is_low ? rank + half : rank - half);
    }
    OK(MPI_Intercomm_merge(inter, !is_low, &merged));
    check_sum(merged);
    OK(MPI_Comm_free(&merged));
    OK(MPI_Comm_free(&inter));
    FAILS(MPI_ERR_RANK, MPI_Intercomm_create_from_groups(is_low ? low : high, size, is_low ? high : low, 0, "wrong",
                                                         MPI_INFO_NULL, MPI_ERRORS_RETURN, &inter));
    OK(MPI_Group_free(&world));
    OK(MPI_Group_free(&low));
    OK(MPI_Group_free(&high));
}

int main(int argc, char **argv)
{
    check_begin(&argc, &argv);
    error_handlers();
    buffers();
    neighbours();
    many_tags();
    if (size > 1) {
        intercommunicator(0, 0);
        intercommunicator(size / 2 - 1, (size - size / 2) / 2);
    }
    return check_end();
}
