/* MPI_THREAD_MULTIPLE (MPI 5.0, section 11.6): several threads exchange messages on communicators of their own and on a
 * shared one, run collectives and duplicate communicators at the same time. */
#include "../check.h"

#include <pthread.h>

enum { THREADS = 3, TURNS = 60 };

static MPI_Comm own[THREADS];

/* All ranks' threads of the same number form a ring; sizes change so that protocols mix. */
static void ring(MPI_Comm comm, int tag)
{
    static const int counts[] = {1, 100, 20000, 0, 3000};
    int right = (rank + 1) % size, left = (rank + size - 1) % size;
    int *out = allocate(20000 * sizeof *out), *in = allocate(20000 * sizeof *in);
    for (int turn = 0; turn < TURNS; turn++) {
        int count = counts[turn % 5];
        MPI_Request request;
        MPI_Status status;
        for (int i = 0; i < count; i++) {
            out[i] = rank + turn * tag + i;
        }
        OK(MPI_Isend(out, count, MPI_INT, right, tag, comm, &request));
        OK(MPI_Recv(in, 20000, MPI_INT, left, tag, comm, &status));
        OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
        CHECK_EQ(status.MPI_TAG, tag);
        for (int i = 0; i < count; i += 99) {
            CHECK_EQ(in[i], left + turn * tag + i);
        }
    }
    free(out);
    free(in);
}

static void *on_own(void *argument)
{
    int number = *(int *)argument;
    ring(own[number], 1);
    return NULL;
}

static void *on_shared(void *argument)
{
    ring(MPI_COMM_WORLD, 10 + *(int *)argument);
    return NULL;
}

static void *collectives(void *argument)
{
    int number = *(int *)argument;
    for (int turn = 0; turn < TURNS / 2; turn++) {
        int sum = 0, value = rank + number, root = turn % size;
        OK(MPI_Allreduce(&value, &sum, 1, MPI_INT, MPI_SUM, own[number]));
        CHECK_EQ(sum, size * (size - 1) / 2 + size * number);
        value = rank == root ? turn : -1;
        OK(MPI_Bcast(&value, 1, MPI_INT, root, own[number]));
        CHECK_EQ(value, turn);
    }
    return NULL;
}

static void *duplicates(void *argument)
{
    int number = *(int *)argument;
    for (int turn = 0; turn < 10; turn++) {
        MPI_Comm comm;
        int sum = 0;
        OK(MPI_Comm_dup(own[number], &comm));
        OK(MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, comm));
        CHECK_EQ(sum, size * (size - 1) / 2);
        OK(MPI_Comm_free(&comm));
    }
    return NULL;
}

/* Windows come and go, of the program's memory and of the library's, while other threads are inside of MPI. */
static void *windows(void *argument)
{
    MPI_Comm comm = own[*(int *)argument];
    int right = (rank + 1) % size, left = (rank + size - 1) % size;
    for (int turn = 0; turn < 10; turn++) {
        long mine = -1, value = rank + turn, *sums;
        MPI_Win window;
        OK(MPI_Win_create(&mine, sizeof mine, sizeof mine, MPI_INFO_NULL, comm, &window));
        OK(MPI_Win_fence(0, window));
        OK(MPI_Put(&value, 1, MPI_LONG, right, 0, 1, MPI_LONG, window));
        OK(MPI_Win_fence(0, window));
        CHECK_EQ(mine, left + turn);
        OK(MPI_Win_free(&window));

        OK(MPI_Win_allocate(2 * sizeof *sums, sizeof *sums, MPI_INFO_NULL, comm, &sums, &window));
        sums[0] = sums[1] = 0;
        OK(MPI_Barrier(comm));
        OK(MPI_Win_lock_all(0, window));
        for (int target = 0; target < size; target++) {
            OK(MPI_Accumulate(&value, 1, MPI_LONG, target, turn % 2, 1, MPI_LONG, MPI_SUM, window));
        }
        OK(MPI_Win_unlock_all(window));
        OK(MPI_Barrier(comm));
        CHECK_EQ(sums[turn % 2], size * (size - 1) / 2 + size * turn);
        CHECK_EQ(sums[1 - turn % 2], 0);
        OK(MPI_Win_free(&window));
    }
    return NULL;
}

/* Any thread may take any message of the others: each is received exactly once. */
static atomic_int received[THREADS * 40];

static void *from_anybody(void *argument)
{
    int number = *(int *)argument, value;
    for (int i = 0; i < 40; i++) {
        MPI_Message message;
        MPI_Status status;
        OK(MPI_Mprobe(MPI_ANY_SOURCE, 77, MPI_COMM_WORLD, &message, &status));
        OK(MPI_Mrecv(&value, 1, MPI_INT, &message, &status));
        received[value]++;
    }
    (void)number;
    return NULL;
}

static void *to_neighbour(void *argument)
{
    int number = *(int *)argument;
    for (int i = 0; i < 40; i++) {
        int value = number * 40 + i;
        OK(MPI_Send(&value, 1, MPI_INT, (rank + 1) % size, 77, MPI_COMM_WORLD));
    }
    return NULL;
}

static void run(void *(*first)(void *), void *(*second)(void *))
{
    pthread_t threads[2 * THREADS];
    int numbers[THREADS];
    for (int i = 0; i < THREADS; i++) {
        numbers[i] = i;
        pthread_create(&threads[i], NULL, first, &numbers[i]);
        if (second != NULL) {
            pthread_create(&threads[THREADS + i], NULL, second, &numbers[i]);
        }
    }
    for (int i = 0; i < (second ? 2 : 1) * THREADS; i++) {
        pthread_join(threads[i], NULL);
    }
    OK(MPI_Barrier(MPI_COMM_WORLD));
}

int main(int argc, char **argv)
{
    int provided;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    CHECK_EQ(provided, MPI_THREAD_MULTIPLE);
    for (int i = 0; i < THREADS; i++) {
        OK(MPI_Comm_dup(MPI_COMM_WORLD, &own[i]));
    }
    run(on_own, NULL);
    run(on_shared, NULL);
    run(collectives, on_shared);
    run(duplicates, NULL);
    run(windows, on_shared);
    run(from_anybody, to_neighbour);
    for (int i = 0; i < THREADS * 40; i++) {
        CHECK_EQ(received[i], 1);
    }
    for (int i = 0; i < THREADS; i++) {
        OK(MPI_Comm_free(&own[i]));
    }
    return check_end();
}
