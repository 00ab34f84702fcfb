/* Locks: exclusive ones exclude, shared ones do not, and atomic operations need no more than a shared one. */
#include "windows.h"

enum { ROUNDS = 20 };

static void exclusive(MPI_Win win)
{
    for (int round = 0; round < ROUNDS; round++)
        add_one_alone(win, round % size);
}

static void shared(MPI_Win win)
{
    long one = 1, before;
    OK(MPI_Win_lock_all(0, win));
    for (int round = 0; round < ROUNDS; round++) {
        OK(MPI_Fetch_and_op(&one, &before, MPI_LONG, round % size, 1, MPI_SUM, win));
        OK(MPI_Win_flush(round % size, win));
        CHECK(before >= 0 && before < ROUNDS * size);
        OK(MPI_Accumulate(&one, 1, MPI_LONG, round % size, 2, 1, MPI_LONG, MPI_SUM, win));
    }
    OK(MPI_Win_unlock_all(win));
}

/* A lock made of compare and swap. */
static void swapped(MPI_Win win)
{
    long none = -1, me = rank, found, value;
    OK(MPI_Win_lock_all(MPI_MODE_NOCHECK, win));
    for (int round = 0; round < 5; round++) {
        do {
            OK(MPI_Compare_and_swap(&me, &none, &found, MPI_LONG, 0, 3, win));
            OK(MPI_Win_flush(0, win));
            CHECK(found >= -1 && found < size && found != rank);
        } while (found != none);
        OK(MPI_Get(&value, 1, MPI_LONG, 0, 4, 1, MPI_LONG, win));
        OK(MPI_Win_flush(0, win));
        value += 1;
        OK(MPI_Put(&value, 1, MPI_LONG, 0, 4, 1, MPI_LONG, win));
        OK(MPI_Win_flush(0, win));
        OK(MPI_Compare_and_swap(&none, &me, &found, MPI_LONG, 0, 3, win));
        OK(MPI_Win_flush(0, win));
        CHECK_EQ(found, rank);
    }
    OK(MPI_Win_unlock_all(win));
}

/* Everybody holds the lock of rank 0 at the same time. */
static void together(MPI_Win win)
{
    OK(MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, win));
    OK(MPI_Barrier(MPI_COMM_WORLD));
    OK(MPI_Win_unlock(0, win));
}

/* Several targets are locked at once, one of them without asking. */
static void several(MPI_Win win)
{
    long value[2] = {-1, -1};
    int next = (rank + 1) % size;
    OK(MPI_Win_lock(MPI_LOCK_SHARED, rank, MPI_MODE_NOCHECK, win));
    if (next != rank) {
        OK(MPI_Win_lock(MPI_LOCK_SHARED, next, 0, win));
    }
    OK(MPI_Get(value, 1, MPI_LONG, rank, 5, 1, MPI_LONG, win));
    OK(MPI_Get(value + 1, 1, MPI_LONG, next, 5, 1, MPI_LONG, win));
    OK(MPI_Win_flush_all(win));
    CHECK_EQ(value[0], rank);
    CHECK_EQ(value[1], next);
    if (next != rank) {
        OK(MPI_Win_unlock(next, win));
    }
    OK(MPI_Win_unlock(rank, win));
}

static void all(MPI_Win win, long *cells)
{
    long visits = ROUNDS / size + (rank < ROUNDS % size);
    for (int i = 0; i < 6; i++) {
        cells[i] = i == 3 ? -1 : i == 5 ? rank : 0;
    }
    OK(MPI_Barrier(MPI_COMM_WORLD));
    exclusive(win);
    shared(win);
    swapped(win);
    OK(MPI_Barrier(MPI_COMM_WORLD));
    together(win);
    several(win);
    OK(MPI_Barrier(MPI_COMM_WORLD));
    OK(MPI_Win_lock(MPI_LOCK_SHARED, rank, 0, win));
    CHECK_EQ(cells[0], visits * size);
    CHECK_EQ(cells[1], visits * size);
    CHECK_EQ(cells[2], visits * size);
    if (rank == 0) {
        CHECK_EQ(cells[3], -1);
        CHECK_EQ(cells[4], 5 * size);
    }
    OK(MPI_Win_unlock(rank, win));
    OK(MPI_Win_free(&win));
}

/* The hint no_locks is a promise. Who breaks it pays with time, and gets his locks. */
static void in_spite_of_a_promise(long *cells, MPI_Aint bytes)
{
    long *own;
    MPI_Info info;
    MPI_Win win;
    OK(MPI_Info_create(&info));
    OK(MPI_Info_set(info, "no_locks", "true"));
    OK(MPI_Win_create(cells, bytes, sizeof(long), info, MPI_COMM_WORLD, &win));
    all(win, cells);
    OK(MPI_Win_allocate(bytes, sizeof(long), info, MPI_COMM_WORLD, &own, &win));
    all(win, own);
    OK(MPI_Win_create(cells, bytes, sizeof(long), info, MPI_COMM_WORLD, &win));
    OK(MPI_Win_lock_all(MPI_MODE_NOCHECK, win));
    OK(MPI_Win_sync(win));
    OK(MPI_Win_unlock_all(win));
    OK(MPI_Win_free(&win));
    OK(MPI_Info_free(&info));
}

int main(int argc, char **argv)
{
    static long cells[6];
    MPI_Win win;
    check_begin(&argc, &argv);
    on_both_kinds_of_windows(all, cells, sizeof cells);
    in_spite_of_a_promise(cells, sizeof cells);
    OK(MPI_Win_create(cells, sizeof cells, sizeof(long), MPI_INFO_NULL, MPI_COMM_SELF, &win));
    OK(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, win));
    OK(MPI_Put(&cells[0], 1, MPI_LONG, 0, 1, 1, MPI_LONG, win));
    OK(MPI_Win_unlock(0, win));
    CHECK_EQ(cells[1], cells[0]);
    OK(MPI_Win_free(&win));
    return check_end();
}
