/* Operations with requests. */
#include "../check.h"

enum { CELLS = 50000 };

static void each(MPI_Win win, int target)
{
    static int out[CELLS], in[CELLS], more[CELLS];
    MPI_Request requests[4];
    MPI_Status status;
    int flag = 0, number = rank + 1;
    for (int i = 0; i < CELLS; i++) {
        out[i] = rank * 10 + i;
        in[i] = more[i] = -1;
    }
    OK(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, target, 0, win));
    OK(MPI_Rput(out, CELLS, MPI_INT, target, 0, CELLS, MPI_INT, win, &requests[0]));
    OK(MPI_Wait(&requests[0], &status));
    CHECK(requests[0] == MPI_REQUEST_NULL);
    memset(out, 0, sizeof out);
    OK(MPI_Win_flush(target, win));
    OK(MPI_Rget(in, CELLS, MPI_INT, target, 0, CELLS, MPI_INT, win, &requests[0]));
    while (!flag) {
        OK(MPI_Test(&requests[0], &flag, &status));
    }
    for (int i = 0; i < CELLS; i += 97) {
        CHECK_EQ(in[i], rank * 10 + i);
    }
    OK(MPI_Raccumulate(&number, 1, MPI_INT, target, 7, 1, MPI_INT, MPI_SUM, win, &requests[0]));
    OK(MPI_Rget_accumulate(in, CELLS, MPI_INT, more, CELLS, MPI_INT, target, 0, CELLS, MPI_INT, MPI_SUM, win, &requests[1]));
    OK(MPI_Rput(out, 1, MPI_INT, MPI_PROC_NULL, 0, 1, MPI_INT, win, &requests[2]));
    OK(MPI_Rget(out, 1, MPI_INT, MPI_PROC_NULL, 0, 1, MPI_INT, win, &requests[3]));
    OK(MPI_Waitall(4, requests, MPI_STATUSES_IGNORE));
    for (int i = 0; i < CELLS; i += 101) {
        CHECK_EQ(more[i], rank * 10 + i);
    }
    CHECK_EQ(more[7], rank * 10 + 7 + rank + 1);
    OK(MPI_Rget(in, 8, MPI_INT, target, 0, 8, MPI_INT, win, &requests[0]));
    OK(MPI_Request_free(&requests[0]));
    OK(MPI_Win_unlock(target, win));
    CHECK_EQ(in[1], 2 * (rank * 10 + 1));
    CHECK_EQ(in[7], 2 * (rank * 10 + 7) + rank + 1);
}

int main(int argc, char **argv)
{
    static int cells[CELLS];
    int *own;
    MPI_Win win;
    check_begin(&argc, &argv);
    OK(MPI_Win_create(cells, sizeof cells, sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &win));
    OK(MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN));
    for (int target = 0; target < size; target++) {
        each(win, (rank + target) % size);
    }
    OK(MPI_Win_free(&win));
    OK(MPI_Win_allocate(sizeof cells, sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &own, &win));
    OK(MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN));
    each(win, (rank + 1) % size);
    OK(MPI_Win_free(&win));
    return check_end();
}
