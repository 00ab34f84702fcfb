/* Processes that share locks do not wait for one another in a circle, whoever waits in between to be alone. */
#include "windows.h"

enum { ROUNDS = 25 };

/* Some want all locks, some want all of them one after the other, each in an order of its own, and some want to be alone. */
static void mixed(MPI_Win win)
{
    for (int round = 0; round < ROUNDS; round++) {
        switch ((rank + round) % 3) {
        case 0:
            OK(MPI_Win_lock_all(0, win));
            OK(MPI_Win_unlock_all(win));
            break;
        case 1:
            for (int i = 0; i < size; i++) {
                OK(MPI_Win_lock(MPI_LOCK_SHARED, (rank + i) % size, 0, win));
            }
            for (int i = 0; i < size; i++) {
                OK(MPI_Win_unlock((rank + i) % size, win));
            }
            break;
        default:
            for (int i = 0; i < size; i++) {
                add_one_alone(win, (rank + 2 * i) % size);
            }
        }
    }
}

static void all(MPI_Win win, long *own)
{
    int visits = 0;
    *own = 0;
    OK(MPI_Barrier(MPI_COMM_WORLD));
    mixed(win);
    OK(MPI_Barrier(MPI_COMM_WORLD));
    for (int other = 0; other < size; other++) {
        for (int round = 0; round < ROUNDS; round++) {
            for (int i = 0; i < size; i++) {
                visits += (other + round) % 3 == 2 && (other + 2 * i) % size == rank;
            }
        }
    }
    OK(MPI_Win_lock(MPI_LOCK_SHARED, rank, 0, win));
    CHECK_EQ(*own, visits);
    OK(MPI_Win_unlock(rank, win));
    OK(MPI_Win_free(&win));
}

int main(int argc, char **argv)
{
    static long cell;
    long *own;
    MPI_Win win;
    check_begin(&argc, &argv);
    OK(MPI_Win_create(&cell, sizeof cell, sizeof cell, MPI_INFO_NULL, MPI_COMM_WORLD, &win));
    all(win, &cell);
    OK(MPI_Win_allocate(sizeof cell, sizeof cell, MPI_INFO_NULL, MPI_COMM_WORLD, &own, &win));
    all(win, own);
    return check_end();
}
