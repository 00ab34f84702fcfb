/* All kinds of windows, all ways to synchronize, all operations (MPI 5.0, sections 12.2, 12.3 and 12.5): with derived datatypes that have
 * gaps on both sides, without elements, with MPI_PROC_NULL, and with requests where those are allowed. */
#include "../check.h"

enum { CELLS = 14 };
enum flavor { CREATE, ALLOCATE, SHARED, DYNAMIC, FLAVORS };
enum way { FENCE, GENERAL, LOCK, LOCK_ALL, WAYS };

static int owned[CELLS], *memory;
static MPI_Aint bases[64];
/* Two cells with one between them; the same with one before them. */
static MPI_Datatype apart, shifted;

static int initial(int owner, int cell)
{
    return 1000 * owner + cell;
}

/* Makes a window; false where processes cannot share memory. */
static int make(enum flavor flavor, MPI_Win *win)
{
    int code;
    switch (flavor) {
    case CREATE:
        memory = owned;
        OK(MPI_Win_create(memory, sizeof owned, sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, win));
        break;
    case ALLOCATE:
        OK(MPI_Win_allocate(sizeof owned, sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &memory, win));
        break;
    case SHARED:
        code = MPI_Win_allocate_shared(sizeof owned, sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &memory, win);
        if (code != MPI_SUCCESS) {
            FAILS(MPI_ERR_RMA_SHARED, code);
            return 0;
        }
        break;
    default:
        memory = owned;
        OK(MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, win));
        OK(MPI_Win_attach(*win, memory, sizeof owned));
    }
    OK(MPI_Win_set_errhandler(*win, MPI_ERRORS_RETURN));
    return 1;
}

/* The displacement of a cell of a rank. */
static MPI_Aint place(enum flavor flavor, int target, int cell)
{
    return flavor == DYNAMIC ? MPI_Aint_add(bases[target], cell * (MPI_Aint)sizeof(int)) : cell;
}

static void begin(enum way way, MPI_Win win, int target, MPI_Group all)
{
    switch (way) {
    case FENCE:
        OK(MPI_Win_fence(MPI_MODE_NOPRECEDE, win));
        break;
    case GENERAL:
        OK(MPI_Win_post(all, 0, win));
        OK(MPI_Win_start(all, 0, win));
        break;
    case LOCK:
        OK(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, target, 0, win));
        break;
    default:
        OK(MPI_Win_lock_all(0, win));
    }
}

static void end(enum way way, MPI_Win win, int target)
{
    int over = 0;
    switch (way) {
    case FENCE:
        OK(MPI_Win_fence(MPI_MODE_NOSUCCEED, win));
        break;
    case GENERAL:
        OK(MPI_Win_complete(win));
        while (!over) {
            OK(MPI_Win_test(win, &over));
        }
        break;
    case LOCK:
        OK(MPI_Win_unlock(target, win));
        break;
    default:
        OK(MPI_Win_flush_all(win));
        OK(MPI_Win_unlock_all(win));
    }
}

/* What an origin sends, and where results go. */
static int out[3], got[4], replaced[2], kept[2], fetched[64], swapped, one;
static int put_later, got_later, added_later, fetched_later;

/* What only the rank before does: each operation has cells of its own. */
static void operate(enum flavor flavor, MPI_Win win, int target)
{
    int *nothing = NULL;
    /* Operands are in use until the synchronization. */
    static int next, expected;
    next = initial(target, 11) + 5;
    expected = initial(target, 11);
    OK(MPI_Put(out, 1, apart, target, place(flavor, target, 0), 1, apart, win));
    OK(MPI_Get(got, 1, shifted, target, place(flavor, target, 0), 1, shifted, win));
    OK(MPI_Accumulate(out, 1, apart, target, place(flavor, target, 4), 1, apart, MPI_SUM, win));
    OK(MPI_Get_accumulate(out, 1, apart, replaced, 2, MPI_INT, target, place(flavor, target, 4), 1, shifted, MPI_REPLACE,
                          win));
    OK(MPI_Get_accumulate(nothing, 0, MPI_INT, kept, 2, MPI_INT, target, place(flavor, target, 8), 1, apart, MPI_NO_OP,
                          win));
    swapped = -1;
    OK(MPI_Compare_and_swap(&next, &expected, &swapped, MPI_INT, target, place(flavor, target, 11), win));
    /* Nothing at all. */
    OK(MPI_Put(out, 0, MPI_INT, target, place(flavor, target, 0), 0, MPI_INT, win));
    OK(MPI_Get(got, 0, apart, target, place(flavor, target, 0), 0, apart, win));
    OK(MPI_Accumulate(out, 0, MPI_INT, target, place(flavor, target, 0), 0, MPI_INT, MPI_MAX, win));
    OK(MPI_Put(out, 1, MPI_INT, MPI_PROC_NULL, 0, 1, MPI_INT, win));
    OK(MPI_Get(got, 1, MPI_INT, MPI_PROC_NULL, 0, 1, MPI_INT, win));
    OK(MPI_Fetch_and_op(out, got, MPI_INT, MPI_PROC_NULL, 0, MPI_SUM, win));
}

static void operate_with_requests(enum flavor flavor, MPI_Win win, int target)
{
    MPI_Request requests[4];
    put_later = rank + 70;
    added_later = 7;
    OK(MPI_Rput(&put_later, 1, MPI_INT, target, place(flavor, target, 12), 1, MPI_INT, win, &requests[0]));
    OK(MPI_Rget(&got_later, 1, MPI_INT, target, place(flavor, target, 1), 1, MPI_INT, win, &requests[1]));
    OK(MPI_Raccumulate(&added_later, 1, MPI_INT, target, place(flavor, target, 13), 1, MPI_INT, MPI_SUM, win,
                       &requests[2]));
    OK(MPI_Rget_accumulate(&added_later, 1, MPI_INT, &fetched_later, 1, MPI_INT, target, place(flavor, target, 13), 1,
                           MPI_INT, MPI_PROD, win, &requests[3]));
    OK(MPI_Waitall(4, requests, MPI_STATUSES_IGNORE));
    CHECK_EQ(got_later, initial(target, 1));
    CHECK_EQ(fetched_later, initial(target, 13) + 7);
}

/* What this process's memory holds afterwards, which the rank before has changed. */
static void check_memory(enum way way, int origin)
{
    CHECK_EQ(memory[0], 10 * origin + 1);
    CHECK_EQ(memory[1], initial(rank, 1));
    CHECK_EQ(memory[2], 10 * origin + 3);
    CHECK_EQ(memory[3], initial(rank, 3));
    CHECK_EQ(memory[4], initial(rank, 4) + 10 * origin + 1);
    CHECK_EQ(memory[5], 10 * origin + 1);
    CHECK_EQ(memory[6], initial(rank, 6) + 10 * origin + 3);
    CHECK_EQ(memory[7], 10 * origin + 3);
    CHECK_EQ(memory[8], initial(rank, 8));
    CHECK_EQ(memory[9], initial(rank, 9) + size);
    CHECK_EQ(memory[10], initial(rank, 10));
    CHECK_EQ(memory[11], initial(rank, 11) + 5);
    int with_requests = way == LOCK || way == LOCK_ALL;
    CHECK_EQ(memory[12], with_requests ? origin + 70 : initial(rank, 12));
    CHECK_EQ(memory[13], with_requests ? (initial(rank, 13) + 7) * 7 : initial(rank, 13));
}

static void round_of(enum flavor flavor, enum way way, MPI_Win win, MPI_Group all)
{
    int target = (rank + 1) % size, origin = (rank + size - 1) % size;
    OK(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, rank, 0, win));
    for (int i = 0; i < CELLS; i++) {
        memory[i] = initial(rank, i);
    }
    OK(MPI_Win_unlock(rank, win));
    OK(MPI_Barrier(MPI_COMM_WORLD));
    one = 1;
    for (int i = 0; i < 3; i++) {
        out[i] = 10 * rank + 1 + i;
    }
    begin(way, win, target, all);
    operate(flavor, win, target);
    if (way == LOCK || way == LOCK_ALL) {
        operate_with_requests(flavor, win, target);
    }
    if (way != LOCK) {
        for (int t = 0; t < size; t++) {
            OK(MPI_Fetch_and_op(&one, &fetched[t], MPI_INT, t, place(flavor, t, 9), MPI_SUM, win));
        }
    }
    end(way, win, target);
    for (int t = 0; t < size && way == LOCK; t++) {
        OK(MPI_Win_lock(MPI_LOCK_SHARED, t, 0, win));
        OK(MPI_Fetch_and_op(&one, &fetched[t], MPI_INT, t, place(flavor, t, 9), MPI_SUM, win));
        OK(MPI_Win_unlock(t, win));
    }
    for (int t = 0; t < size; t++) {
        CHECK(fetched[t] >= initial(t, 9) && fetched[t] < initial(t, 9) + size);
    }
    CHECK(got[1] == initial(target, 1) && got[3] == initial(target, 3));
    CHECK(replaced[0] == initial(target, 5) && replaced[1] == initial(target, 7));
    CHECK(kept[0] == initial(target, 8) && kept[1] == initial(target, 10));
    CHECK_EQ(swapped, initial(target, 11));
    OK(MPI_Barrier(MPI_COMM_WORLD));
    OK(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, rank, 0, win));
    check_memory(way, origin);
    OK(MPI_Win_unlock(rank, win));
    OK(MPI_Barrier(MPI_COMM_WORLD));
}

int main(int argc, char **argv)
{
    MPI_Group all;
    MPI_Win win;
    MPI_Aint own;
    Count places[2] = {1, 3};
    check_begin(&argc, &argv);
    OK(MPI_Comm_group(MPI_COMM_WORLD, &all));
    OK(MPI_Type_vector(2, 1, 2, MPI_INT, &apart));
    OK(MPI_Type_commit(&apart));
    OK(MPI_Type_create_indexed_block(2, 1, places, MPI_INT, &shifted));
    OK(MPI_Type_commit(&shifted));
    OK(MPI_Get_address(owned, &own));
    OK(MPI_Allgather(&own, 1, MPI_AINT, bases, 1, MPI_AINT, MPI_COMM_WORLD));
    for (int flavor = 0; flavor < FLAVORS; flavor++) {
        if (!make(flavor, &win)) {
            continue;
        }
        for (int way = 0; way < WAYS; way++) {
            round_of(flavor, way, win, all);
        }
        if (flavor == DYNAMIC) {
            OK(MPI_Win_detach(win, memory));
        }
        OK(MPI_Win_free(&win));
    }
    OK(MPI_Type_free(&apart));
    OK(MPI_Type_free(&shifted));
    OK(MPI_Group_free(&all));
    return check_end();
}
