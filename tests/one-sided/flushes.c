/* Puts of whose end a flush makes sure: one by one, several at once, and in turns with the other kinds of epochs. */
#include "windows.h"

enum { CELLS = 4 };

/* Puts `count` cells at the right neighbour one by one, waits for all of them, and reads them back. */
static void put_and_read(MPI_Win win, int count, long value)
{
    int right = (rank + 1) % size;
    long written[CELLS], read[CELLS] = {0};
    for (int i = 0; i < count; i++) {
        written[i] = value + i;
        OK(MPI_Put(&written[i], 1, MPI_LONG, right, i, 1, MPI_LONG, win));
    }
    OK(MPI_Win_flush(right, win));
    OK(MPI_Get(read, count, MPI_LONG, right, 0, count, MPI_LONG, win));
    OK(MPI_Win_flush(right, win));
    for (int i = 0; i < count; i++) {
        CHECK_EQ(read[i], written[i]);
    }
}

static void put_one(MPI_Win win, long *value)
{
    OK(MPI_Put(value, 1, MPI_LONG, (rank + 1) % size, 0, 1, MPI_LONG, win));
}

static void in_turns(MPI_Win win, long *cells)
{
    static const int counts[] = {1, 1, 1, 3, 1, 1, 2, 1};
    int right = (rank + 1) % size, left = (rank + size - 1) % size;
    MPI_Group world, to, from;
    OK(MPI_Comm_group(MPI_COMM_WORLD, &world));
    OK(MPI_Group_incl(world, 1, &right, &to));
    OK(MPI_Group_incl(world, 1, &left, &from));
    for (int round = 0; round < 3; round++) {
        long locked = 1000 * rank + 1, fenced = 1000 * rank + 2, posted = 1000 * rank + 3;
        OK(MPI_Win_lock_all(0, win));
        for (int turn = 0; turn < 8; turn++) {
            put_and_read(win, counts[turn], 1000 * rank + 100 * round + 10 * turn);
        }
        put_one(win, &locked);
        OK(MPI_Win_unlock_all(win));
        OK(MPI_Barrier(MPI_COMM_WORLD));
        OK(MPI_Win_lock(MPI_LOCK_SHARED, rank, 0, win));
        CHECK_EQ(cells[0], 1000 * left + 1);
        OK(MPI_Win_unlock(rank, win));
        OK(MPI_Win_fence(0, win));
        put_one(win, &fenced);
        OK(MPI_Win_fence(MPI_MODE_NOSUCCEED, win));
        CHECK_EQ(cells[0], 1000 * left + 2);
        OK(MPI_Win_post(from, 0, win));
        OK(MPI_Win_start(to, 0, win));
        put_one(win, &posted);
        OK(MPI_Win_complete(win));
        OK(MPI_Win_wait(win));
        CHECK_EQ(cells[0], 1000 * left + 3);
        OK(MPI_Barrier(MPI_COMM_WORLD));
        OK(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, right, 0, win));
        put_one(win, &locked);
        OK(MPI_Win_unlock(right, win));
        OK(MPI_Barrier(MPI_COMM_WORLD));
    }
    OK(MPI_Group_free(&world));
    OK(MPI_Group_free(&to));
    OK(MPI_Group_free(&from));
    OK(MPI_Win_free(&win));
}

int main(int argc, char **argv)
{
    static long cells[CELLS];
    check_begin(&argc, &argv);
    on_both_kinds_of_windows(in_turns, cells, sizeof cells);
    return check_end();
}
