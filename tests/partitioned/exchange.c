/* Partitioned communication (MPI 5.0, chapter 4): equal and different partitions on both sides, any order of readiness, many
 * rounds, matching by order, derived datatypes, no partitions, MPI_PROC_NULL and wrong arguments. */
#include "../check.h"

#include <pthread.h>

/* The header of another ABI may lack the twins. */
#if defined(LARGE_COUNT) && defined(MPI_ABI_VERSION)
#define PSEND_INIT MPI_Psend_init_c
#define PRECV_INIT MPI_Precv_init_c
#else
#define PSEND_INIT MPI_Psend_init
#define PRECV_INIT MPI_Precv_init
#endif

static int right, left;

static void ready_all(MPI_Request request, int partitions, int turn)
{
    if (turn % 3 == 0) {
        for (int i = partitions - 1; i >= 0; i--) {
            OK(MPI_Pready(i, request));
        }
    } else if (turn % 3 == 1) {
        OK(MPI_Pready_range(0, partitions - 1, request));
    } else {
        int list[64], count = 0;
        for (int i = 0; i < partitions; i += 2) {
            list[count++] = i;
        }
        for (int i = 1; i < partitions; i += 2) {
            list[count++] = i;
        }
        OK(MPI_Pready_list(count, list, request));
    }
}

/* The bytes of a round go round the ring in `out` partitions and come in `in` partitions. */
static void ring(int out, int in, size_t bytes, int tag)
{
    unsigned char *sent = allocate(bytes), *received = allocate(bytes);
    MPI_Request requests[2];
    MPI_Status statuses[2];
    OK(PSEND_INIT(sent, out, (MPI_Count)bytes / out, MPI_BYTE, right, tag, MPI_COMM_WORLD, MPI_INFO_NULL, &requests[0]));
    OK(PRECV_INIT(received, in, (MPI_Count)bytes / in, MPI_BYTE, left, tag, MPI_COMM_WORLD, MPI_INFO_NULL, &requests[1]));
    for (int turn = 0; turn < 7; turn++) {
        Count count = -1;
        int flag = 0;
        fill(sent, bytes, (unsigned)(rank + turn));
        memset(received, 0, bytes);
        OK(MPI_Startall(2, requests));
        ready_all(requests[0], out, turn);
        for (int i = in - 1; i >= 0 && turn % 2; i--) {
            size_t first = bytes / (size_t)in * (size_t)i;
            for (flag = 0; !flag;) {
                OK(MPI_Parrived(requests[1], i, &flag));
            }
            CHECK_EQ(received[first], pattern(first, (unsigned)(left + turn)));
        }
        OK(MPI_Waitall(2, requests, statuses));
        CHECK(filled(received, bytes, (unsigned)(left + turn)));
        OK(MPI_Get_count(&statuses[1], MPI_BYTE, &count));
        CHECK_EQ(count, bytes);
        CHECK_EQ(statuses[1].MPI_SOURCE, left);
        CHECK_EQ(statuses[1].MPI_TAG, tag);
        OK(MPI_Parrived(requests[1], 0, &flag));
        CHECK_EQ(flag, 1);
        OK(MPI_Testall(2, requests, &flag, statuses));
        CHECK_EQ(flag, 1);
    }
    OK(MPI_Request_free(&requests[0]));
    OK(MPI_Request_free(&requests[1]));
    CHECK(requests[0] == MPI_REQUEST_NULL);
    free(sent);
    free(received);
}

/* Requests of one envelope are paired in the order in which they were made, whatever the order of their starts. */
static void order(void)
{
    enum { REQUESTS = 4 };
    MPI_Request out[REQUESTS], in[REQUESTS];
    int sent[REQUESTS], received[REQUESTS], other = -1;
    MPI_Request plain;
    for (int i = 0; i < REQUESTS; i++) {
        OK(PSEND_INIT(&sent[i], 1, 1, MPI_INT, right, 5, MPI_COMM_WORLD, MPI_INFO_NULL, &out[i]));
    }
    for (int i = 0; i < REQUESTS; i++) {
        OK(PRECV_INIT(&received[i], 1, 1, MPI_INT, left, 5, MPI_COMM_WORLD, MPI_INFO_NULL, &in[i]));
    }
    /* Messages of the same envelope have nothing to do with them. */
    OK(MPI_Irecv(&other, 1, MPI_INT, left, 5, MPI_COMM_WORLD, &plain));
    for (int turn = 0; turn < 3; turn++) {
        for (int i = REQUESTS - 1; i >= 0; i--) {
            sent[i] = 100 * turn + 10 * rank + i;
            OK(MPI_Start(&out[i]));
            OK(MPI_Pready(0, out[i]));
        }
        OK(MPI_Startall(REQUESTS, in));
        OK(MPI_Waitall(REQUESTS, in, MPI_STATUSES_IGNORE));
        OK(MPI_Waitall(REQUESTS, out, MPI_STATUSES_IGNORE));
        for (int i = 0; i < REQUESTS; i++) {
            CHECK_EQ(received[i], 100 * turn + 10 * left + i);
        }
    }
    OK(MPI_Send(&rank, 1, MPI_INT, right, 5, MPI_COMM_WORLD));
    OK(MPI_Wait(&plain, MPI_STATUS_IGNORE));
    CHECK_EQ(other, left);
    for (int i = 0; i < REQUESTS; i++) {
        OK(MPI_Request_free(&out[i]));
        OK(MPI_Request_free(&in[i]));
    }
}

static void derived(void)
{
    enum { PARTITIONS = 6, BLOCKS = 500 };
    static int out[PARTITIONS * BLOCKS * 2], in[PARTITIONS * BLOCKS * 3];
    MPI_Datatype every_second, every_third;
    MPI_Request requests[2];
    OK(MPI_Type_create_resized(MPI_INT, 0, 2 * sizeof(int), &every_second));
    OK(MPI_Type_create_resized(MPI_INT, 0, 3 * sizeof(int), &every_third));
    OK(MPI_Type_commit(&every_second));
    OK(MPI_Type_commit(&every_third));
    OK(PSEND_INIT(out, PARTITIONS, BLOCKS, every_second, right, 6, MPI_COMM_WORLD, MPI_INFO_NULL, &requests[0]));
    OK(PRECV_INIT(in, 2, PARTITIONS * BLOCKS / 2, every_third, left, 6, MPI_COMM_WORLD, MPI_INFO_NULL, &requests[1]));
    OK(MPI_Type_free(&every_second));
    OK(MPI_Type_free(&every_third));
    for (int turn = 0; turn < 3; turn++) {
        for (int i = 0; i < PARTITIONS * BLOCKS; i++) {
            out[2 * i] = rank + turn + i;
            in[3 * i] = in[3 * i + 1] = -1;
        }
        OK(MPI_Startall(2, requests));
        ready_all(requests[0], PARTITIONS, turn);
        OK(MPI_Waitall(2, requests, MPI_STATUSES_IGNORE));
        for (int i = 0; i < PARTITIONS * BLOCKS; i++) {
            CHECK(in[3 * i] == left + turn + i && in[3 * i + 1] == -1);
        }
    }
    OK(MPI_Request_free(&requests[0]));
    OK(MPI_Request_free(&requests[1]));
}

/* Nothing arrives before its partition is ready, and the rest not before the last. */
static void step_by_step(void)
{
    enum { PARTITIONS = 4 };
    MPI_Request requests[2];
    int out[PARTITIONS], in[PARTITIONS] = {0}, flag;
    OK(PRECV_INIT(in, PARTITIONS, 1, MPI_INT, rank, 7, MPI_COMM_WORLD, MPI_INFO_NULL, &requests[1]));
    OK(PSEND_INIT(out, PARTITIONS, 1, MPI_INT, rank, 7, MPI_COMM_WORLD, MPI_INFO_NULL, &requests[0]));
    OK(MPI_Startall(2, requests));
    for (int i = 0; i < PARTITIONS; i++) {
        OK(MPI_Parrived(requests[1], i, &flag));
        CHECK_EQ(flag, 0);
        OK(MPI_Test(&requests[0], &flag, MPI_STATUS_IGNORE));
        CHECK_EQ(flag, 0);
        out[i] = 50 + i;
        OK(MPI_Pready(i, requests[0]));
        OK(MPI_Parrived(requests[1], i, &flag));
        CHECK_EQ(flag, 1);
        CHECK_EQ(in[i], 50 + i);
    }
    OK(MPI_Waitall(2, requests, MPI_STATUSES_IGNORE));
    OK(MPI_Request_free(&requests[0]));
    OK(MPI_Request_free(&requests[1]));
}

static void nothing(int partitions, int count)
{
    MPI_Request requests[2];
    MPI_Status statuses[2];
    Count got = -1;
    OK(PSEND_INIT(NULL, partitions, count, MPI_INT, right, 8, MPI_COMM_WORLD, MPI_INFO_NULL, &requests[0]));
    OK(PRECV_INIT(NULL, partitions, count, MPI_INT, left, 8, MPI_COMM_WORLD, MPI_INFO_NULL, &requests[1]));
    for (int turn = 0; turn < 3; turn++) {
        OK(MPI_Startall(2, requests));
        for (int i = 0; i < partitions; i++) {
            OK(MPI_Pready(i, requests[0]));
        }
        OK(MPI_Pready_list(0, NULL, requests[0]));
        OK(MPI_Waitall(2, requests, statuses));
        OK(MPI_Get_count(&statuses[1], MPI_INT, &got));
        CHECK_EQ(got, 0);
        CHECK_EQ(statuses[1].MPI_SOURCE, left);
    }
    OK(MPI_Request_free(&requests[0]));
    OK(MPI_Request_free(&requests[1]));
}

static void with_nobody(void)
{
    MPI_Request requests[2];
    MPI_Status status;
    int out[2] = {1, 2}, in[2] = {3, 4}, flag = 0;
    OK(PSEND_INIT(out, 2, 1, MPI_INT, MPI_PROC_NULL, 9, MPI_COMM_WORLD, MPI_INFO_NULL, &requests[0]));
    OK(PRECV_INIT(in, 2, 1, MPI_INT, MPI_PROC_NULL, 9, MPI_COMM_WORLD, MPI_INFO_NULL, &requests[1]));
    for (int turn = 0; turn < 2; turn++) {
        OK(MPI_Startall(2, requests));
        OK(MPI_Pready_range(0, 1, requests[0]));
        OK(MPI_Parrived(requests[1], 1, &flag));
        CHECK_EQ(flag, 1);
        OK(MPI_Wait(&requests[0], MPI_STATUS_IGNORE));
        OK(MPI_Wait(&requests[1], &status));
        CHECK_EQ(status.MPI_SOURCE, MPI_PROC_NULL);
        CHECK_EQ(status.MPI_TAG, MPI_ANY_TAG);
        CHECK_EQ(in[1], 4);
    }
    OK(MPI_Request_free(&requests[0]));
    OK(MPI_Request_free(&requests[1]));
}

/* The receive buffer may be longer than the message, and not shorter. */
static void other_lengths(void)
{
    MPI_Request requests[2];
    MPI_Status status;
    Count count = -1;
    int out[4] = {1, 2, 3, 4}, in[6] = {0};
    OK(PSEND_INIT(out, 2, 2, MPI_INT, right, 10, MPI_COMM_WORLD, MPI_INFO_NULL, &requests[0]));
    OK(PRECV_INIT(in, 3, 2, MPI_INT, left, 10, MPI_COMM_WORLD, MPI_INFO_NULL, &requests[1]));
    OK(MPI_Startall(2, requests));
    OK(MPI_Pready_range(0, 1, requests[0]));
    OK(MPI_Wait(&requests[1], &status));
    OK(MPI_Wait(&requests[0], MPI_STATUS_IGNORE));
    OK(MPI_Get_count(&status, MPI_INT, &count));
    CHECK_EQ(count, 4);
    CHECK_EQ(in[3], 4);
    CHECK_EQ(in[4], 0);
    OK(MPI_Request_free(&requests[0]));
    OK(MPI_Request_free(&requests[1]));

    OK(PSEND_INIT(out, 2, 2, MPI_INT, right, 11, MPI_COMM_WORLD, MPI_INFO_NULL, &requests[0]));
    OK(PRECV_INIT(in, 3, 1, MPI_INT, left, 11, MPI_COMM_WORLD, MPI_INFO_NULL, &requests[1]));
    OK(MPI_Startall(2, requests));
    OK(MPI_Pready_range(0, 1, requests[0]));
    FAILS(MPI_ERR_TRUNCATE, MPI_Wait(&requests[1], &status));
    OK(MPI_Wait(&requests[0], MPI_STATUS_IGNORE));
    OK(MPI_Request_free(&requests[0]));
    OK(MPI_Request_free(&requests[1]));
}

static void wrong_calls(void)
{
    MPI_Request send, receive, plain;
    int value[2], flag;
    FAILS(MPI_ERR_ARG, PSEND_INIT(value, -1, 1, MPI_INT, rank, 1, MPI_COMM_WORLD, MPI_INFO_NULL, &send));
    FAILS(MPI_ERR_COUNT, PSEND_INIT(value, 1, -1, MPI_INT, rank, 1, MPI_COMM_WORLD, MPI_INFO_NULL, &send));
    FAILS(MPI_ERR_RANK, PSEND_INIT(value, 1, 1, MPI_INT, size, 1, MPI_COMM_WORLD, MPI_INFO_NULL, &send));
    FAILS(MPI_ERR_RANK, PRECV_INIT(value, 1, 1, MPI_INT, MPI_ANY_SOURCE, 1, MPI_COMM_WORLD, MPI_INFO_NULL, &send));
    FAILS(MPI_ERR_TAG, PRECV_INIT(value, 1, 1, MPI_INT, rank, MPI_ANY_TAG, MPI_COMM_WORLD, MPI_INFO_NULL, &send));
    FAILS(MPI_ERR_COMM, PSEND_INIT(value, 1, 1, MPI_INT, rank, 1, MPI_COMM_NULL, MPI_INFO_NULL, &send));
    FAILS(MPI_ERR_TYPE, PSEND_INIT(value, 1, 1, MPI_DATATYPE_NULL, rank, 1, MPI_COMM_WORLD, MPI_INFO_NULL, &send));

    OK(PSEND_INIT(value, 2, 1, MPI_INT, rank, 1, MPI_COMM_WORLD, MPI_INFO_NULL, &send));
    OK(PRECV_INIT(value, 2, 1, MPI_INT, rank, 1, MPI_COMM_WORLD, MPI_INFO_NULL, &receive));
    FAILS(MPI_ERR_REQUEST, MPI_Pready(0, send));
    OK(MPI_Start(&send));
    OK(MPI_Start(&receive));
    FAILS(MPI_ERR_REQUEST, MPI_Start(&send));
    FAILS(MPI_ERR_ARG, MPI_Pready(2, send));
    FAILS(MPI_ERR_ARG, MPI_Pready(-1, send));
    FAILS(MPI_ERR_ARG, MPI_Pready_range(1, 0, send));
    FAILS(MPI_ERR_ARG, MPI_Pready_range(0, 2000000000, send));
    FAILS(MPI_ERR_REQUEST, MPI_Pready(0, receive));
    FAILS(MPI_ERR_REQUEST, MPI_Pready(0, MPI_REQUEST_NULL));
    FAILS(MPI_ERR_REQUEST, MPI_Parrived(send, 0, &flag));
    FAILS(MPI_ERR_ARG, MPI_Parrived(receive, 2, &flag));
    FAILS(MPI_ERR_REQUEST, MPI_Cancel(&send));
    FAILS(MPI_ERR_REQUEST, MPI_Request_free(&send));
    OK(MPI_Pready(1, send));
    FAILS(MPI_ERR_ARG, MPI_Pready(1, send));
    OK(MPI_Pready(0, send));
    OK(MPI_Wait(&send, MPI_STATUS_IGNORE));
    OK(MPI_Wait(&receive, MPI_STATUS_IGNORE));
    OK(MPI_Request_free(&send));
    OK(MPI_Request_free(&receive));

    OK(MPI_Recv_init(value, 1, MPI_INT, rank, 1, MPI_COMM_WORLD, &plain));
    FAILS(MPI_ERR_REQUEST, MPI_Pready(0, plain));
    FAILS(MPI_ERR_REQUEST, MPI_Parrived(plain, 0, &flag));
    OK(MPI_Request_free(&plain));
}

/* A receive that is freed before it was started still takes its turn in the order. */
static void freed_receive(void)
{
    MPI_Request out[2], in[2];
    int sent[2] = {rank, 100 + rank}, received[2] = {-1, -1};
    for (int i = 0; i < 2; i++) {
        OK(PRECV_INIT(&received[i], 1, 1, MPI_INT, left, 12, MPI_COMM_WORLD, MPI_INFO_NULL, &in[i]));
    }
    OK(MPI_Request_free(&in[0]));
    OK(MPI_Barrier(MPI_COMM_WORLD));
    for (int i = 0; i < 2; i++) {
        OK(PSEND_INIT(&sent[i], 1, 1, MPI_INT, right, 12, MPI_COMM_WORLD, MPI_INFO_NULL, &out[i]));
    }
    OK(MPI_Start(&in[1]));
    OK(MPI_Start(&out[1]));
    OK(MPI_Pready(0, out[1]));
    OK(MPI_Wait(&in[1], MPI_STATUS_IGNORE));
    OK(MPI_Wait(&out[1], MPI_STATUS_IGNORE));
    CHECK_EQ(received[1], 100 + left);
    OK(MPI_Request_free(&in[1]));
    OK(MPI_Request_free(&out[0]));
    OK(MPI_Request_free(&out[1]));
}

enum { THREADS = 4, PER_THREAD = 8 };

typedef struct {
    int number;
    MPI_Request request;
} Worker;

static void *work(void *argument)
{
    Worker *worker = argument;
    for (int i = PER_THREAD - 1; i >= 0; i--) {
        OK(MPI_Pready(THREADS * i + worker->number, worker->request));
    }
    return NULL;
}

static void from_threads(void)
{
    enum { PARTITIONS = THREADS * PER_THREAD, BYTES = PARTITIONS * 1000 };
    static unsigned char out[BYTES], in[BYTES];
    MPI_Request requests[2];
    int level;
    OK(MPI_Query_thread(&level));
    if (level < MPI_THREAD_MULTIPLE) {
        return;
    }
    OK(PSEND_INIT(out, PARTITIONS, 1000, MPI_BYTE, right, 13, MPI_COMM_WORLD, MPI_INFO_NULL, &requests[0]));
    OK(PRECV_INIT(in, 5, BYTES / 5, MPI_BYTE, left, 13, MPI_COMM_WORLD, MPI_INFO_NULL, &requests[1]));
    for (int turn = 0; turn < 10; turn++) {
        pthread_t threads[THREADS];
        Worker workers[THREADS];
        fill(out, BYTES, (unsigned)(rank + turn));
        OK(MPI_Startall(2, requests));
        for (int i = 0; i < THREADS; i++) {
            workers[i] = (Worker){i, requests[0]};
            pthread_create(&threads[i], NULL, work, &workers[i]);
        }
        OK(MPI_Waitall(2, requests, MPI_STATUSES_IGNORE));
        for (int i = 0; i < THREADS; i++) {
            pthread_join(threads[i], NULL);
        }
        CHECK(filled(in, BYTES, (unsigned)(left + turn)));
    }
    OK(MPI_Request_free(&requests[0]));
    OK(MPI_Request_free(&requests[1]));
}

int main(int argc, char **argv)
{
    check_begin(&argc, &argv);
    right = (rank + 1) % size;
    left = (rank + size - 1) % size;
    ring(1, 1, 40, 1);
    ring(4, 4, 64, 2);
    ring(12, 5, 60, 3);
    ring(7, 3, 21 * 5000, 4);
    ring(2, 50, 2000000, 5);
    order();
    derived();
    step_by_step();
    nothing(0, 4);
    nothing(3, 0);
    with_nobody();
    other_lengths();
    wrong_calls();
    freed_receive();
    from_threads();
    return check_end();
}
