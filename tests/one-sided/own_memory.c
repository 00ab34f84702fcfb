/* Rank 0 looks at its own memory again and again, in ways that need nobody else, until the others have been there as often as they
 * want to; and each of their visits needs it several times. */
#include "windows.h"

enum { VISITS = 10 };

static long swapped(MPI_Win win)
{
    long none = 0, found;
    OK(MPI_Compare_and_swap(&none, &none, &found, MPI_LONG, rank, 0, win));
    OK(MPI_Win_flush(rank, win));
    return found;
}

static long fetched(MPI_Win win)
{
    long none = 0, found;
    OK(MPI_Fetch_and_op(&none, &found, MPI_LONG, rank, 0, MPI_NO_OP, win));
    OK(MPI_Win_flush_local_all(win));
    return found;
}

static long got(MPI_Win win)
{
    long found;
    OK(MPI_Get(&found, 1, MPI_LONG, rank, 0, 1, MPI_LONG, win));
    OK(MPI_Win_flush_all(win));
    return found;
}

static long locked(MPI_Win win)
{
    long found;
    OK(MPI_Win_lock(MPI_LOCK_SHARED, rank, 0, win));
    OK(MPI_Get(&found, 1, MPI_LONG, rank, 0, 1, MPI_LONG, win));
    OK(MPI_Win_unlock(rank, win));
    return found;
}

static void visit(MPI_Win win)
{
    long one = 1, before, after;
    for (int visit = 0; visit < VISITS; visit++) {
        OK(MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, win));
        OK(MPI_Fetch_and_op(&one, &before, MPI_LONG, 0, 1, MPI_SUM, win));
        OK(MPI_Win_flush(0, win));
        OK(MPI_Fetch_and_op(NULL, &after, MPI_LONG, 0, 1, MPI_NO_OP, win));
        OK(MPI_Win_flush(0, win));
        CHECK(before < after);
        OK(MPI_Accumulate(&one, 1, MPI_LONG, 0, 0, 1, MPI_LONG, MPI_SUM, win));
        OK(MPI_Win_unlock(0, win));
    }
}

static void until_all_were_here(MPI_Win win, long *own, long (*look)(MPI_Win), int in_epoch)
{
    own[0] = own[1] = 0;
    OK(MPI_Barrier(MPI_COMM_WORLD));
    if (rank != 0) {
        visit(win);
    } else {
        if (in_epoch) {
            OK(MPI_Win_lock_all(0, win));
        }
        while (look(win) < (long)VISITS * (size - 1)) {
        }
        if (in_epoch) {
            OK(MPI_Win_unlock_all(win));
        }
        CHECK_EQ(locked(win), VISITS * (size - 1));
    }
    OK(MPI_Barrier(MPI_COMM_WORLD));
}

static void all(MPI_Win win, long *own)
{
    until_all_were_here(win, own, swapped, 1);
    until_all_were_here(win, own, fetched, 1);
    until_all_were_here(win, own, got, 1);
    until_all_were_here(win, own, locked, 0);
    OK(MPI_Win_free(&win));
}

int main(int argc, char **argv)
{
    static long cells[2];
    check_begin(&argc, &argv);
    on_both_kinds_of_windows(all, cells, sizeof cells);
    return check_end();
}
