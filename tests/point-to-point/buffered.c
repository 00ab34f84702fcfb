/* Buffered sends (MPI 5.0, section 3.6): attach, detach and flush for the process, a communicator and a session,
 * MPI_BUFFER_AUTOMATIC, detach that waits for delivery, and the error when the buffer has no room. */
#include "../check.h"

enum { MESSAGES = 20, INTS = 500 };

static void send_all(MPI_Comm comm, int to, int *data)
{
    for (int i = 0; i < MESSAGES; i++) {
        for (int j = 0; j < INTS; j++) {
            data[j] = rank * 1000000 + i * 1000 + j;
        }
        OK(MPI_Bsend(data, INTS, MPI_INT, to, i, comm));
    }
}

static void receive_all(MPI_Comm comm, int from, int *data)
{
    for (int i = MESSAGES - 1; i >= 0; i--) {
        memset(data, 0, INTS * sizeof *data);
        OK(MPI_Recv(data, INTS, MPI_INT, from, i, comm, MPI_STATUS_IGNORE));
        CHECK_EQ(data[0], from * 1000000 + i * 1000);
        CHECK_EQ(data[INTS - 1], from * 1000000 + i * 1000 + INTS - 1);
    }
}

static size_t room(MPI_Comm comm)
{
    Count packed;
    OK(MPI_Pack_size(INTS, MPI_INT, comm, &packed));
    return MESSAGES * ((size_t)packed + MPI_BSEND_OVERHEAD);
}

static void of_process(int right, int left, int *data)
{
    size_t bytes = room(MPI_COMM_WORLD);
    void *buffer = allocate(bytes), *detached = NULL;
    Count detached_bytes = 0;
    MPI_Request request;
    OK(MPI_Buffer_attach(buffer, (Count)bytes));
    for (int turn = 0; turn < 3; turn++) {
        send_all(MPI_COMM_WORLD, right, data);
        receive_all(MPI_COMM_WORLD, left, data);
        if (turn == 1) {
            OK(MPI_Buffer_flush());
        } else {
            OK(MPI_Buffer_iflush(&request));
            OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
        }
    }
    OK(MPI_Buffer_detach(&detached, &detached_bytes));
    CHECK(detached == buffer);
    CHECK_EQ(detached_bytes, bytes);
    free(buffer);
}

static void of_communicator(int right, int left, int *data)
{
    MPI_Comm comm;
    MPI_Request request;
    void *buffer, *detached = NULL;
    size_t bytes;
    Count detached_bytes = 0;
    OK(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
    bytes = room(comm);
    buffer = allocate(bytes);
    OK(MPI_Comm_attach_buffer(comm, buffer, (Count)bytes));
    send_all(comm, right, data);
    receive_all(comm, left, data);
    OK(MPI_Comm_flush_buffer(comm));
    send_all(comm, right, data);
    OK(MPI_Comm_iflush_buffer(comm, &request));
    receive_all(comm, left, data);
    OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    OK(MPI_Comm_detach_buffer(comm, &detached, &detached_bytes));
    CHECK(detached == buffer);
    CHECK_EQ(detached_bytes, bytes);
    free(buffer);
    OK(MPI_Comm_free(&comm));
}

/* The library finds the room itself; detach gives the constant back. */
static void automatic(int right, int left, int *data)
{
    void *detached = NULL;
    Count bytes = 1;
    MPI_Comm comm;
    OK(MPI_Buffer_attach(MPI_BUFFER_AUTOMATIC, 0));
    send_all(MPI_COMM_WORLD, right, data);
    receive_all(MPI_COMM_WORLD, left, data);
    OK(MPI_Buffer_flush());
    OK(MPI_Buffer_detach(&detached, &bytes));
    CHECK(detached == MPI_BUFFER_AUTOMATIC);
    CHECK_EQ(bytes, 0);

    OK(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
    OK(MPI_Comm_attach_buffer(comm, MPI_BUFFER_AUTOMATIC, 0));
    send_all(comm, right, data);
    receive_all(comm, left, data);
    OK(MPI_Comm_detach_buffer(comm, &detached, &bytes));
    CHECK(detached == MPI_BUFFER_AUTOMATIC);
    OK(MPI_Comm_free(&comm));
}

/* Detaching returns only after the messages have left the buffer, which may then be overwritten. */
static void detach_delivers(int right, int left, int *data)
{
    size_t bytes = room(MPI_COMM_WORLD);
    void *buffer = allocate(bytes), *detached;
    Count detached_bytes;
    int in = 0;
    MPI_Request receive;
    OK(MPI_Irecv(data, INTS, MPI_INT, left, 90, MPI_COMM_WORLD, &receive));
    OK(MPI_Buffer_attach(buffer, (Count)bytes));
    {
        int out[INTS];
        fill(out, sizeof out, (unsigned)rank);
        OK(MPI_Bsend(out, INTS, MPI_INT, right, 90, MPI_COMM_WORLD));
        memset(out, 0, sizeof out);
    }
    OK(MPI_Buffer_detach(&detached, &detached_bytes));
    memset(buffer, 0xff, bytes);
    OK(MPI_Wait(&receive, MPI_STATUS_IGNORE));
    CHECK(filled(data, INTS * sizeof *data, (unsigned)left));
    OK(MPI_Sendrecv(&rank, 1, MPI_INT, right, 91, &in, 1, MPI_INT, left, 91, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    free(buffer);
}

static void no_room(int *data)
{
    char buffer[MPI_BSEND_OVERHEAD + 16];
    void *detached;
    Count bytes;
    OK(MPI_Buffer_attach(buffer, sizeof buffer));
    FAILS(MPI_ERR_BUFFER, MPI_Bsend(data, INTS, MPI_INT, rank, 92, MPI_COMM_WORLD));
    OK(MPI_Bsend(data, 4, MPI_INT, rank, 93, MPI_COMM_WORLD));
    OK(MPI_Recv(data, 4, MPI_INT, rank, 93, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    OK(MPI_Buffer_detach(&detached, &bytes));
}

/* A buffer stays attached when there is no place for what detaching would say. */
static void wrong_places(void)
{
    static char buffer[1000];
    void *found = NULL;
    Count bytes = 0;
    FAILS(MPI_ERR_ARG, MPI_Buffer_attach(buffer, -1));
    FAILS(MPI_ERR_BUFFER, MPI_Buffer_attach(NULL, 10));
    OK(MPI_Buffer_attach(buffer, sizeof buffer));
    FAILS(MPI_ERR_BUFFER, MPI_Buffer_attach(buffer, sizeof buffer));
    FAILS(MPI_ERR_ARG, MPI_Buffer_detach(NULL, &bytes));
    FAILS(MPI_ERR_ARG, MPI_Buffer_detach(&found, NULL));
    OK(MPI_Buffer_detach(&found, &bytes));
    CHECK(found == buffer);
    CHECK_EQ(bytes, sizeof buffer);
}

int main(int argc, char **argv)
{
    int data[INTS], right, left;
    check_begin(&argc, &argv);
    memset(data, 0, sizeof data);
    right = (rank + 1) % size;
    left = (rank + size - 1) % size;
    of_process(right, left, data);
    of_communicator(right, left, data);
    automatic(right, left, data);
    detach_delivers(right, left, data);
    no_room(data);
    wrong_places();
    return check_end();
}
