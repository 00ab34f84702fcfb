/* A target that calls no MPI, but looks at its own memory only, gets what others put there. */
#include "../check.h"

#include <time.h>

enum { LONG_DATA = 300000 };

typedef struct {
    volatile long flags[8];
    unsigned char data[LONG_DATA];
} Memory;

static void wait_for(volatile long *place, long value)
{
    for (long spin = 0; *place != value; spin++) {
        if (spin > 1000000) {
            struct timespec pause = {0, 100000};
            nanosleep(&pause, NULL);
        }
    }
}

static void serve_without_calls(MPI_Win win, Memory *memory)
{
    long one = 1;
    unsigned char *data = allocate(LONG_DATA);
    memset((void *)memory, 0, sizeof *memory);
    OK(MPI_Barrier(MPI_COMM_WORLD));
    if (rank == 0) {
        /* Everybody adds one: no call until then, and none between the parts of a long message. */
        wait_for(&memory->flags[0], size - 1);
        atomic_thread_fence(memory_order_acquire);
        if (size > 1) {
            CHECK(filled(memory->data, LONG_DATA, 1));
        }
        memory->flags[1] = 1;
        wait_for(&memory->flags[2], size - 1);
    } else {
        long go = 0;
        OK(MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, win));
        if (rank == 1) {
            fill(data, LONG_DATA, 1);
            OK(MPI_Put(data, LONG_DATA, MPI_BYTE, 0, offsetof(Memory, data), LONG_DATA, MPI_BYTE, win));
            OK(MPI_Win_flush(0, win));
        }
        OK(MPI_Accumulate(&one, 1, MPI_LONG, 0, 0, 1, MPI_LONG, MPI_SUM, win));
        OK(MPI_Win_flush(0, win));
        while (!go) {
            OK(MPI_Fetch_and_op(NULL, &go, MPI_LONG, 0, sizeof(long), MPI_NO_OP, win));
            OK(MPI_Win_flush(0, win));
        }
        memset(data, 0, LONG_DATA);
        OK(MPI_Get(data, LONG_DATA, MPI_BYTE, 0, offsetof(Memory, data), LONG_DATA, MPI_BYTE, win));
        OK(MPI_Win_unlock(0, win));
        CHECK(filled(data, LONG_DATA, 1));
        OK(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, win));
        OK(MPI_Accumulate(&one, 1, MPI_LONG, 0, 2 * sizeof(long), 1, MPI_LONG, MPI_SUM, win));
        OK(MPI_Win_unlock(0, win));
    }
    OK(MPI_Barrier(MPI_COMM_WORLD));
    free(data);
}

/* Messages go on as usual while a window is open. */
static void messages_beside(void)
{
    int next = (rank + 1) % size, before = (rank + size - 1) % size;
    for (int round = 0; round < 200; round++) {
        int out = round, in = -1;
        OK(MPI_Sendrecv(&out, 1, MPI_INT, next, 0, &in, 1, MPI_INT, before, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
        CHECK_EQ(in, round);
    }
}

int main(int argc, char **argv)
{
    MPI_Win win;
    Memory *memory, *own = allocate(sizeof *own);
    check_begin(&argc, &argv);
    OK(MPI_Win_create(own, sizeof *own, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &win));
    serve_without_calls(win, own);
    messages_beside();
    serve_without_calls(win, own);
    OK(MPI_Win_free(&win));
    OK(MPI_Win_allocate(sizeof *memory, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &win));
    serve_without_calls(win, memory);
    OK(MPI_Win_free(&win));
    messages_beside();
    free(own);
    return check_end();
}
