/* Each argument of the point-to-point functions wrong once (MPI 5.0, sections 3.2, 3.7 to 3.10 and 9.4): the call returns the
 * class of that argument in every send mode, for MPI_PROC_NULL as well, and leaves nothing behind that would take a message. */
#include "../check.h"

typedef int Send(const void *, Count, MPI_Datatype, int, int, MPI_Comm);
typedef int Isend(const void *, Count, MPI_Datatype, int, int, MPI_Comm, MPI_Request *);

static Send *const sends[] = {MPI_Send, MPI_Bsend, MPI_Ssend, MPI_Rsend};
static Isend *const isends[] = {MPI_Isend,     MPI_Ibsend,     MPI_Issend,     MPI_Irsend,
                                MPI_Send_init, MPI_Bsend_init, MPI_Ssend_init, MPI_Rsend_init};
static const int no_ranks[] = {-7, MPI_ANY_SOURCE, MPI_ROOT};
static MPI_Comm world = MPI_COMM_WORLD;
static MPI_Datatype uncommitted;
static int data[4], more[4];

static void blocking_send(Send *send)
{
    FAILS(MPI_ERR_COUNT, send(data, -1, MPI_INT, 0, 0, world));
    FAILS(MPI_ERR_TYPE, send(data, 1, MPI_DATATYPE_NULL, 0, 0, world));
    FAILS(MPI_ERR_TYPE, send(data, 1, uncommitted, 0, 0, world));
    FAILS(MPI_ERR_RANK, send(data, 1, MPI_INT, size, 0, world));
    for (int i = 0; i < 3; i++) {
        FAILS(MPI_ERR_RANK, send(data, 1, MPI_INT, no_ranks[i], 0, world));
    }
    FAILS(MPI_ERR_TAG, send(data, 1, MPI_INT, 0, -4, world));
    FAILS(MPI_ERR_TAG, send(data, 1, MPI_INT, 0, MPI_ANY_TAG, world));
    FAILS(MPI_ERR_COMM, send(data, 1, MPI_INT, 0, 0, MPI_COMM_NULL));
    FAILS(MPI_ERR_BUFFER, send(NULL, 1, MPI_INT, 0, 0, world));
    FAILS(MPI_ERR_COUNT, send(data, -1, MPI_INT, MPI_PROC_NULL, 0, world));
    FAILS(MPI_ERR_TYPE, send(data, 1, uncommitted, MPI_PROC_NULL, 0, world));
    FAILS(MPI_ERR_TAG, send(data, 1, MPI_INT, MPI_PROC_NULL, -4, world));
    OK(send(NULL, 0, MPI_INT, MPI_PROC_NULL, 0, world));
}

static void nonblocking_send(Isend *send)
{
    MPI_Request request = MPI_REQUEST_NULL;
    FAILS(MPI_ERR_COUNT, send(data, -1, MPI_INT, 0, 0, world, &request));
    FAILS(MPI_ERR_TYPE, send(data, 1, MPI_DATATYPE_NULL, 0, 0, world, &request));
    FAILS(MPI_ERR_TYPE, send(data, 1, uncommitted, 0, 0, world, &request));
    FAILS(MPI_ERR_RANK, send(data, 1, MPI_INT, size, 0, world, &request));
    for (int i = 0; i < 3; i++) {
        FAILS(MPI_ERR_RANK, send(data, 1, MPI_INT, no_ranks[i], 0, world, &request));
    }
    FAILS(MPI_ERR_TAG, send(data, 1, MPI_INT, 0, MPI_ANY_TAG, world, &request));
    FAILS(MPI_ERR_COMM, send(data, 1, MPI_INT, 0, 0, MPI_COMM_NULL, &request));
    FAILS(MPI_ERR_BUFFER, send(NULL, 1, MPI_INT, 0, 0, world, &request));
    FAILS(MPI_ERR_ARG, send(data, 1, MPI_INT, rank, 0, world, NULL));
    CHECK(request == MPI_REQUEST_NULL);
}

static void receives(void)
{
    MPI_Status status;
    MPI_Request request = MPI_REQUEST_NULL;
    FAILS(MPI_ERR_COUNT, MPI_Recv(data, -1, MPI_INT, 0, 0, world, &status));
    FAILS(MPI_ERR_TYPE, MPI_Recv(data, 1, uncommitted, 0, 0, world, &status));
    FAILS(MPI_ERR_RANK, MPI_Recv(data, 1, MPI_INT, size, 0, world, &status));
    FAILS(MPI_ERR_RANK, MPI_Recv(data, 1, MPI_INT, MPI_ROOT, 0, world, &status));
    FAILS(MPI_ERR_TAG, MPI_Recv(data, 1, MPI_INT, 0, -7, world, &status));
    FAILS(MPI_ERR_TAG, MPI_Recv(data, 1, MPI_INT, MPI_PROC_NULL, -7, world, &status));
    FAILS(MPI_ERR_BUFFER, MPI_Recv(NULL, 1, MPI_INT, 0, 0, world, &status));
    FAILS(MPI_ERR_COUNT, MPI_Recv_init(data, -1, MPI_INT, 0, 0, world, &request));
    FAILS(MPI_ERR_RANK, MPI_Recv_init(data, 1, MPI_INT, -7, 0, world, &request));
    FAILS(MPI_ERR_BUFFER, MPI_Recv_init(NULL, 1, MPI_INT, 0, 0, world, &request));
    FAILS(MPI_ERR_RANK, MPI_Irecv(data, 1, MPI_INT, -7, 0, world, &request));
    FAILS(MPI_ERR_TAG, MPI_Irecv(data, 1, MPI_INT, 0, -7, world, &request));
    FAILS(MPI_ERR_ARG, MPI_Irecv(data, 1, MPI_INT, rank, 0, world, NULL));
}

static void both(void)
{
    MPI_Status status;
    MPI_Request request;
    FAILS(MPI_ERR_COUNT, MPI_Sendrecv(data, -1, MPI_INT, rank, 0, more, 1, MPI_INT, rank, 0, world, &status));
    FAILS(MPI_ERR_COUNT, MPI_Sendrecv(data, 1, MPI_INT, rank, 0, more, -1, MPI_INT, rank, 0, world, &status));
    FAILS(MPI_ERR_RANK, MPI_Sendrecv(data, 1, MPI_INT, size, 0, more, 1, MPI_INT, rank, 0, world, &status));
    FAILS(MPI_ERR_RANK, MPI_Sendrecv(data, 1, MPI_INT, rank, 0, more, 1, MPI_INT, size, 0, world, &status));
    FAILS(MPI_ERR_TAG, MPI_Sendrecv(data, 1, MPI_INT, rank, MPI_ANY_TAG, more, 1, MPI_INT, rank, 0, world, &status));
    FAILS(MPI_ERR_RANK, MPI_Sendrecv_replace(data, 1, MPI_INT, size, 0, rank, 0, world, &status));
    FAILS(MPI_ERR_RANK, MPI_Sendrecv_replace(data, 1, MPI_INT, rank, 0, size, 0, world, &status));
    FAILS(MPI_ERR_BUFFER, MPI_Sendrecv_replace(NULL, 1, MPI_INT, rank, 0, rank, 0, world, &status));
    FAILS(MPI_ERR_TAG, MPI_Isendrecv(data, 1, MPI_INT, rank, 0, more, 1, MPI_INT, rank, -9, world, &request));
    FAILS(MPI_ERR_ARG, MPI_Isendrecv(data, 1, MPI_INT, rank, 0, more, 1, MPI_INT, rank, 0, world, NULL));
    FAILS(MPI_ERR_ARG, MPI_Isendrecv_replace(data, 1, MPI_INT, rank, 0, rank, 0, world, NULL));
}

/* MPI_IN_PLACE has a meaning in collective calls only. */
static void in_place(void)
{
    MPI_Request request;
    FAILS(MPI_ERR_BUFFER, MPI_Send(MPI_IN_PLACE, 1, MPI_INT, rank, 0, world));
    FAILS(MPI_ERR_BUFFER, MPI_Isend(MPI_IN_PLACE, 1, MPI_INT, rank, 0, world, &request));
    FAILS(MPI_ERR_BUFFER, MPI_Recv(MPI_IN_PLACE, 1, MPI_INT, rank, 0, world, MPI_STATUS_IGNORE));
    FAILS(MPI_ERR_BUFFER, MPI_Recv_init(MPI_IN_PLACE, 1, MPI_INT, rank, 0, world, &request));
    FAILS(MPI_ERR_BUFFER, MPI_Sendrecv_replace(MPI_IN_PLACE, 1, MPI_INT, rank, 0, rank, 0, world, MPI_STATUS_IGNORE));
}

static void probes(void)
{
    MPI_Status status;
    MPI_Message message = MPI_MESSAGE_NULL;
    int flag;
    FAILS(MPI_ERR_RANK, MPI_Probe(size, 0, world, &status));
    FAILS(MPI_ERR_TAG, MPI_Probe(MPI_PROC_NULL, -7, world, &status));
    FAILS(MPI_ERR_RANK, MPI_Iprobe(-7, 0, world, &flag, &status));
    FAILS(MPI_ERR_ARG, MPI_Iprobe(0, 0, world, NULL, &status));
    FAILS(MPI_ERR_RANK, MPI_Mprobe(size, 0, world, &message, &status));
    FAILS(MPI_ERR_TAG, MPI_Improbe(0, -7, world, &flag, &message, &status));
    FAILS(MPI_ERR_REQUEST, MPI_Mrecv(data, 1, MPI_INT, &message, &status));
    OK(MPI_Mprobe(MPI_PROC_NULL, 0, world, &message, &status));
    FAILS(MPI_ERR_COUNT, MPI_Mrecv(data, -1, MPI_INT, &message, &status));
    FAILS(MPI_ERR_TYPE, MPI_Mrecv(data, 1, uncommitted, &message, &status));
    CHECK(message == MPI_MESSAGE_NO_PROC);
    OK(MPI_Mrecv(data, 1, MPI_INT, &message, &status));
    CHECK(message == MPI_MESSAGE_NULL);
}

/* A message stays where it is when a call has no place to tell of it. */
static void nothing_is_taken(void)
{
    MPI_Message message;
    int flag, in = 0;
    OK(MPI_Send(&rank, 1, MPI_INT, rank, 5, world));
    FAILS(MPI_ERR_ARG, MPI_Mprobe(rank, 5, world, NULL, MPI_STATUS_IGNORE));
    FAILS(MPI_ERR_ARG, MPI_Improbe(rank, 5, world, &flag, NULL, MPI_STATUS_IGNORE));
    OK(MPI_Mprobe(rank, 5, world, &message, MPI_STATUS_IGNORE));
    OK(MPI_Mrecv(&in, 1, MPI_INT, &message, MPI_STATUS_IGNORE));
    CHECK_EQ(in, rank);
}

int main(int argc, char **argv)
{
    check_begin(&argc, &argv);
    OK(MPI_Type_contiguous(2, MPI_INT, &uncommitted));
    for (size_t i = 0; i < sizeof sends / sizeof *sends; i++) {
        blocking_send(sends[i]);
    }
    for (size_t i = 0; i < sizeof isends / sizeof *isends; i++) {
        nonblocking_send(isends[i]);
    }
    receives();
    both();
    in_place();
    probes();
    nothing_is_taken();
    OK(MPI_Type_free(&uncommitted));
    return check_end();
}
