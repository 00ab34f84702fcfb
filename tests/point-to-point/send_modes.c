/* The four send modes, blocking, nonblocking and persistent (MPI 5.0, sections 3.4, 3.7, 3.9), around a ring at sizes
 * on both sides of every protocol switch. The receive is posted first and a zero-byte message tells the sender so:
 * that makes a ready send legal. */
#include "../check.h"

enum { STANDARD, SYNCHRONOUS, BUFFERED, READY, MODES };
enum { TAG_DATA = 7, TAG_POSTED = 8 };

static void send_blocking(int mode, const void *buffer, Count count, int to)
{
    switch (mode) {
    case STANDARD: OK(MPI_Send(buffer, count, MPI_BYTE, to, TAG_DATA, MPI_COMM_WORLD)); break;
    case SYNCHRONOUS: OK(MPI_Ssend(buffer, count, MPI_BYTE, to, TAG_DATA, MPI_COMM_WORLD)); break;
    case BUFFERED: OK(MPI_Bsend(buffer, count, MPI_BYTE, to, TAG_DATA, MPI_COMM_WORLD)); break;
    default: OK(MPI_Rsend(buffer, count, MPI_BYTE, to, TAG_DATA, MPI_COMM_WORLD)); break;
    }
}

static MPI_Request send_nonblocking(int mode, const void *buffer, Count count, int to)
{
    MPI_Request request;
    switch (mode) {
    case STANDARD: OK(MPI_Isend(buffer, count, MPI_BYTE, to, TAG_DATA, MPI_COMM_WORLD, &request)); break;
    case SYNCHRONOUS: OK(MPI_Issend(buffer, count, MPI_BYTE, to, TAG_DATA, MPI_COMM_WORLD, &request)); break;
    case BUFFERED: OK(MPI_Ibsend(buffer, count, MPI_BYTE, to, TAG_DATA, MPI_COMM_WORLD, &request)); break;
    default: OK(MPI_Irsend(buffer, count, MPI_BYTE, to, TAG_DATA, MPI_COMM_WORLD, &request)); break;
    }
    return request;
}

static MPI_Request send_persistent(int mode, const void *buffer, Count count, int to)
{
    MPI_Request request;
    switch (mode) {
    case STANDARD: OK(MPI_Send_init(buffer, count, MPI_BYTE, to, TAG_DATA, MPI_COMM_WORLD, &request)); break;
    case SYNCHRONOUS: OK(MPI_Ssend_init(buffer, count, MPI_BYTE, to, TAG_DATA, MPI_COMM_WORLD, &request)); break;
    case BUFFERED: OK(MPI_Bsend_init(buffer, count, MPI_BYTE, to, TAG_DATA, MPI_COMM_WORLD, &request)); break;
    default: OK(MPI_Rsend_init(buffer, count, MPI_BYTE, to, TAG_DATA, MPI_COMM_WORLD, &request)); break;
    }
    return request;
}

/* Posts the receive and lets the left neighbour know; returns once the right neighbour has posted too. */
static MPI_Request post_receive(void *buffer, Count count, int left, int right)
{
    MPI_Request request;
    OK(MPI_Irecv(buffer, count, MPI_BYTE, left, TAG_DATA, MPI_COMM_WORLD, &request));
    OK(MPI_Sendrecv(NULL, 0, MPI_BYTE, left, TAG_POSTED, NULL, 0, MPI_BYTE, right, TAG_POSTED, MPI_COMM_WORLD,
                    MPI_STATUS_IGNORE));
    return request;
}

static void check_received(MPI_Request *receive, const void *buffer, size_t bytes, unsigned seed, int left)
{
    MPI_Status status;
    Count count;
    OK(MPI_Wait(receive, &status));
    CHECK_EQ(status.MPI_SOURCE, left);
    CHECK_EQ(status.MPI_TAG, TAG_DATA);
    OK(MPI_Get_count(&status, MPI_BYTE, &count));
    CHECK_EQ(count, bytes);
    CHECK(filled(buffer, bytes, seed));
    CHECK(*receive == MPI_REQUEST_NULL);
}

static void ring(int mode, size_t bytes, unsigned char *out, unsigned char *in)
{
    int right = (rank + 1) % size, left = (rank + size - 1) % size;
    unsigned seed = (unsigned)(mode + 10 * rank), left_seed = (unsigned)(mode + 10 * left);
    MPI_Request receive, send;

    fill(out, bytes, seed);
    /* To oneself a blocking send also only needs the posted receive. */
    receive = post_receive(in, (Count)bytes, left, right);
    send_blocking(mode, out, (Count)bytes, right);
    check_received(&receive, in, bytes, left_seed, left);

    memset(in, 0, bytes);
    receive = post_receive(in, (Count)bytes, left, right);
    send = send_nonblocking(mode, out, (Count)bytes, right);
    OK(MPI_Wait(&send, MPI_STATUS_IGNORE));
    check_received(&receive, in, bytes, left_seed, left);

    send = send_persistent(mode, out, (Count)bytes, right);
    for (int turn = 0; turn < 3; turn++) {
        memset(in, 0, bytes);
        fill(out, bytes, seed + (unsigned)turn);
        receive = post_receive(in, (Count)bytes, left, right);
        OK(MPI_Start(&send));
        OK(MPI_Wait(&send, MPI_STATUS_IGNORE));
        CHECK(send != MPI_REQUEST_NULL);
        check_received(&receive, in, bytes, left_seed + (unsigned)turn, left);
    }
    OK(MPI_Request_free(&send));
    CHECK(send == MPI_REQUEST_NULL);
}

int main(int argc, char **argv)
{
    static const size_t sizes[] = {0, 1, 63, 64, 1000, 4096, 16385, 65536, 300000, 1 << 20, 4 << 20};
    size_t largest = 4 << 20, attached = 3 * (largest + MPI_BSEND_OVERHEAD);
    unsigned char *out = allocate(largest), *in = allocate(largest);
    void *buffer = allocate(attached), *detached;
    Count detached_bytes;

    check_begin(&argc, &argv);
    OK(MPI_Buffer_attach(buffer, (Count)attached));
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        for (int mode = 0; mode < MODES; mode++) {
            ring(mode, sizes[i], out, in);
        }
    }
    OK(MPI_Buffer_detach(&detached, &detached_bytes));
    CHECK(detached == buffer);
    CHECK_EQ(detached_bytes, attached);
    free(out);
    free(in);
    free(buffer);
    return check_end();
}
