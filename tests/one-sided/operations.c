/* Every operation under every kind of synchronization, on windows of every kind: each rank works on its right neighbour, and
 * the left one on it. */
#include "../check.h"

enum { CELLS = 8 };

typedef enum { FENCE, GENERAL, LOCK, SHARED_LOCK, LOCK_ALL, LAST } Synchronization;

static int right, left;
static MPI_Group to, from;

static void begin(MPI_Win win, Synchronization how)
{
    switch (how) {
    case FENCE:
        OK(MPI_Win_fence(MPI_MODE_NOPRECEDE, win));
        break;
    case GENERAL:
        OK(MPI_Win_post(from, 0, win));
        OK(MPI_Win_start(to, 0, win));
        break;
    case LOCK:
        OK(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, right, 0, win));
        break;
    case SHARED_LOCK:
        OK(MPI_Win_lock(MPI_LOCK_SHARED, right, 0, win));
        break;
    default:
        OK(MPI_Win_lock_all(0, win));
    }
}

static void end(MPI_Win win, Synchronization how)
{
    int over = 0;
    switch (how) {
    case FENCE:
        OK(MPI_Win_fence(MPI_MODE_NOSUCCEED, win));
        return;
    case GENERAL:
        OK(MPI_Win_complete(win));
        if (rank % 2) {
            OK(MPI_Win_wait(win));
        } else {
            while (!over) {
                OK(MPI_Win_test(win, &over));
            }
        }
        return;
    case LOCK:
    case SHARED_LOCK:
        OK(MPI_Win_flush_local(right, win));
        OK(MPI_Win_flush(right, win));
        OK(MPI_Win_unlock(right, win));
        break;
    default:
        OK(MPI_Win_flush_local_all(win));
        OK(MPI_Win_flush_all(win));
        OK(MPI_Win_unlock_all(win));
    }
    OK(MPI_Barrier(MPI_COMM_WORLD));
}

/* Own memory before and after an epoch of others. */
static void set(MPI_Win win, long *cells)
{
    OK(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, rank, 0, win));
    for (int i = 0; i < CELLS; i++) {
        cells[i] = 100 * rank + i;
    }
    OK(MPI_Win_sync(win));
    OK(MPI_Win_unlock(rank, win));
    OK(MPI_Barrier(MPI_COMM_WORLD));
}

static void all_operations(MPI_Win win, long *cells, Synchronization how)
{
    long out[CELLS], in[CELLS], compare = 100 * right + 2, one = 1;
    for (int i = 0; i < CELLS; i++) {
        out[i] = 1000 * (rank + 1) + i;
        in[i] = -1;
    }

    set(win, cells);
    begin(win, how);
    OK(MPI_Put(out, 3, MPI_LONG, right, 2, 3, MPI_LONG, win));
    OK(MPI_Get(in, 2, MPI_LONG, right, 6, 2, MPI_LONG, win));
    end(win, how);
    CHECK_EQ(cells[1], 100 * rank + 1);
    CHECK_EQ(cells[2], 1000 * (left + 1));
    CHECK_EQ(cells[4], 1000 * (left + 1) + 2);
    CHECK_EQ(cells[5], 100 * rank + 5);
    CHECK_EQ(in[0], 100 * right + 6);
    CHECK_EQ(in[1], 100 * right + 7);

    set(win, cells);
    begin(win, how);
    OK(MPI_Accumulate(out, 2, MPI_LONG, right, 0, 2, MPI_LONG, MPI_SUM, win));
    OK(MPI_Accumulate(&one, 1, MPI_LONG, right, 1, 1, MPI_LONG, MPI_REPLACE, win));
    OK(MPI_Get_accumulate(out, 2, MPI_LONG, in, 2, MPI_LONG, right, 4, 2, MPI_LONG, MPI_SUM, win));
    OK(MPI_Fetch_and_op(&one, in + 2, MPI_LONG, right, 6, MPI_SUM, win));
    OK(MPI_Fetch_and_op(NULL, in + 3, MPI_LONG, right, 7, MPI_NO_OP, win));
    OK(MPI_Get_accumulate(NULL, 0, MPI_DATATYPE_NULL, in + 4, 1, MPI_LONG, right, 3, 1, MPI_LONG, MPI_NO_OP, win));
    OK(MPI_Compare_and_swap(&one, &compare, in + 5, MPI_LONG, right, 2, win));
    OK(MPI_Compare_and_swap(out, &compare, in + 6, MPI_LONG, right, 3, win));
    end(win, how);
    CHECK_EQ(cells[0], 100 * rank + 1000 * (left + 1));
    CHECK_EQ(cells[1], 1);
    CHECK_EQ(cells[2], 1);
    CHECK_EQ(cells[3], 100 * rank + 3);
    CHECK_EQ(cells[4], 100 * rank + 4 + 1000 * (left + 1));
    CHECK_EQ(cells[5], 100 * rank + 5 + 1000 * (left + 1) + 1);
    CHECK_EQ(cells[6], 100 * rank + 7);
    CHECK_EQ(cells[7], 100 * rank + 7);
    for (int i = 0; i < 4; i++) {
        CHECK_EQ(in[i], 100 * right + i + 4);
    }
    CHECK_EQ(in[4], 100 * right + 3);
    CHECK_EQ(in[5], 100 * right + 2);
    CHECK_EQ(in[6], 100 * right + 3);

    /* A process that is none, and nothing at all. */
    begin(win, how);
    OK(MPI_Put(out, 1, MPI_LONG, MPI_PROC_NULL, 0, 1, MPI_LONG, win));
    OK(MPI_Get(in, 1, MPI_LONG, MPI_PROC_NULL, 0, 1, MPI_LONG, win));
    OK(MPI_Accumulate(out, 1, MPI_LONG, MPI_PROC_NULL, 0, 1, MPI_LONG, MPI_SUM, win));
    OK(MPI_Get_accumulate(out, 1, MPI_LONG, in, 1, MPI_LONG, MPI_PROC_NULL, 0, 1, MPI_LONG, MPI_SUM, win));
    OK(MPI_Fetch_and_op(&one, in, MPI_LONG, MPI_PROC_NULL, 0, MPI_SUM, win));
    OK(MPI_Compare_and_swap(&one, &compare, in, MPI_LONG, MPI_PROC_NULL, 0, win));
    OK(MPI_Put(NULL, 0, MPI_LONG, right, 0, 0, MPI_LONG, win));
    OK(MPI_Get(NULL, 0, MPI_LONG, right, 0, 0, MPI_LONG, win));
    OK(MPI_Accumulate(NULL, 0, MPI_LONG, right, 0, 0, MPI_LONG, MPI_SUM, win));
    OK(MPI_Get_accumulate(NULL, 0, MPI_LONG, NULL, 0, MPI_LONG, right, 0, 0, MPI_LONG, MPI_SUM, win));
    end(win, how);
    CHECK_EQ(in[0], 100 * right + 4);
}

static void with_every_synchronization(MPI_Win win, long *cells)
{
    for (Synchronization how = FENCE; how < LAST; how++) {
        all_operations(win, cells, how);
    }
    OK(MPI_Win_free(&win));
    CHECK(win == MPI_WIN_NULL);
}

static void dynamic(void)
{
    static long cells[CELLS];
    MPI_Win win;
    MPI_Aint own, *all = allocate((size_t)size * sizeof *all);
    OK(MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &win));
    OK(MPI_Win_attach(win, cells, sizeof cells));
    OK(MPI_Get_address(cells, &own));
    OK(MPI_Allgather(&own, 1, MPI_AINT, all, 1, MPI_AINT, MPI_COMM_WORLD));
    /* Displacements are addresses. */
    for (Synchronization how = FENCE; how < LAST; how++) {
        long out = 7 * rank + 1, in = -1, one = 1;
        set(win, cells);
        begin(win, how);
        OK(MPI_Put(&out, 1, MPI_LONG, right, all[right] + (MPI_Aint)sizeof(long), 1, MPI_LONG, win));
        OK(MPI_Get(&in, 1, MPI_LONG, right, MPI_Aint_add(all[right], 5 * sizeof(long)), 1, MPI_LONG, win));
        OK(MPI_Accumulate(&one, 1, MPI_LONG, right, all[right], 1, MPI_LONG, MPI_SUM, win));
        end(win, how);
        CHECK_EQ(cells[1], 7 * left + 1);
        CHECK_EQ(cells[0], 100 * rank + 1);
        CHECK_EQ(in, 100 * right + 5);
    }
    OK(MPI_Barrier(MPI_COMM_WORLD));
    OK(MPI_Win_detach(win, cells));
    OK(MPI_Win_free(&win));
    free(all);
}

/* Accesses that cover memory attached in parts, also where an element lies across a border, or lie in some of them only. */
static void attached_side_by_side(void)
{
    enum { PARTS = 4, ALL = 16 };
    static long cells[ALL];
    long out[ALL], in[ALL];
    char *const bytes = (char *)cells;
    const MPI_Aint borders[PARTS + 1] = {0, 4 * sizeof(long), 7 * sizeof(long) + 3, 12 * sizeof(long), sizeof cells};
    MPI_Win win;
    MPI_Datatype spread;
    MPI_Aint own, there;
    OK(MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &win));
    OK(MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN));
    for (int part = 0; part < PARTS; part++) {
        OK(MPI_Win_attach(win, bytes + borders[part], borders[part + 1] - borders[part]));
    }
    OK(MPI_Get_address(cells, &own));
    OK(MPI_Sendrecv(&own, 1, MPI_AINT, left, 0, &there, 1, MPI_AINT, right, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    /* Blocks of three with one free cell after each: several lie across borders. */
    OK(MPI_Type_vector(4, 3, 4, MPI_LONG, &spread));
    OK(MPI_Type_commit(&spread));
    for (int i = 0; i < ALL; i++) {
        out[i] = 100 * rank + i;
        in[i] = -1;
    }
    OK(MPI_Win_lock_all(0, win));
    OK(MPI_Put(out, ALL, MPI_LONG, right, there, ALL, MPI_LONG, win));
    OK(MPI_Win_flush(right, win));
    OK(MPI_Accumulate(out, 12, MPI_LONG, right, there, 1, spread, MPI_SUM, win));
    OK(MPI_Win_flush(right, win));
    OK(MPI_Get(in, 12, MPI_LONG, right, there, 1, spread, win));
    OK(MPI_Win_flush(right, win));
    for (int i = 0; i < 12; i++) {
        CHECK_EQ(in[i], 200 * rank + i + i / 3 * 4 + i % 3);
    }
    OK(MPI_Get_accumulate(out, ALL, MPI_LONG, in, ALL, MPI_LONG, right, there, ALL, MPI_LONG, MPI_REPLACE, win));
    OK(MPI_Win_flush(right, win));
    CHECK_EQ(in[3], 100 * rank + 3);
    OK(MPI_Win_unlock_all(win));
    OK(MPI_Barrier(MPI_COMM_WORLD));
    for (int i = 0; i < ALL; i++) {
        CHECK_EQ(cells[i], 100 * left + i);
    }

    /* A gap is no memory of the window. */
    OK(MPI_Win_detach(win, bytes + borders[1]));
    OK(MPI_Barrier(MPI_COMM_WORLD));
    OK(MPI_Win_lock(MPI_LOCK_SHARED, right, 0, win));
    OK(MPI_Put(out, ALL, MPI_LONG, right, there, ALL, MPI_LONG, win));
    FAILS(MPI_ERR_RMA_RANGE, MPI_Win_flush(right, win));
    OK(MPI_Put(out + 8, 8, MPI_LONG, right, there + 8 * (MPI_Aint)sizeof(long), 8, MPI_LONG, win));
    OK(MPI_Win_unlock(right, win));
    OK(MPI_Type_free(&spread));
    OK(MPI_Win_free(&win));
}

int main(int argc, char **argv)
{
    static long cells[CELLS];
    long *own;
    MPI_Win win;
    MPI_Group world;
    check_begin(&argc, &argv);
    right = (rank + 1) % size;
    left = (rank + size - 1) % size;
    OK(MPI_Comm_group(MPI_COMM_WORLD, &world));
    OK(MPI_Group_incl(world, 1, &right, &to));
    OK(MPI_Group_incl(world, 1, &left, &from));

    OK(MPI_Win_create(cells, sizeof cells, sizeof(long), MPI_INFO_NULL, MPI_COMM_WORLD, &win));
    with_every_synchronization(win, cells);

    OK(MPI_Win_allocate(sizeof cells, sizeof(long), MPI_INFO_NULL, MPI_COMM_WORLD, &own, &win));
    with_every_synchronization(win, own);

    dynamic();
    attached_side_by_side();

    OK(MPI_Group_free(&to));
    OK(MPI_Group_free(&from));
    OK(MPI_Group_free(&world));
    return check_end();
}
