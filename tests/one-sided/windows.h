/* What several tests of windows do. */
#include "../check.h"

/* Get, add, put: only a lock makes that right. */
static inline void add_one_alone(MPI_Win win, int target)
{
    long value = -1;
    OK(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, target, 0, win));
    OK(MPI_Get(&value, 1, MPI_LONG, target, 0, 1, MPI_LONG, win));
    OK(MPI_Win_flush(target, win));
    value += 1;
    OK(MPI_Put(&value, 1, MPI_LONG, target, 0, 1, MPI_LONG, win));
    OK(MPI_Win_unlock(target, win));
}

/* Runs a test, which frees the window, on memory of the program and on memory of the window. */
static inline void on_both_kinds_of_windows(void (*test)(MPI_Win win, long *own), long *cells, MPI_Aint bytes)
{
    long *own;
    MPI_Win win;
    OK(MPI_Win_create(cells, bytes, sizeof(long), MPI_INFO_NULL, MPI_COMM_WORLD, &win));
    test(win, cells);
    OK(MPI_Win_allocate(bytes, sizeof(long), MPI_INFO_NULL, MPI_COMM_WORLD, &own, &win));
    test(win, own);
}
