/* What is wrong is refused, with the class that the standard gives it, and the window can be used afterwards. */
#include "../check.h"

static int right;
static long cells[4], value = 5, other;

static void put(MPI_Win win, int class)
{
    FAILS(class, MPI_Put(&value, 1, MPI_LONG, right, 0, 1, MPI_LONG, win));
}

static void outside_of_epochs(MPI_Win win)
{
    put(win, MPI_ERR_RMA_SYNC);
    FAILS(MPI_ERR_RMA_SYNC, MPI_Get(&value, 1, MPI_LONG, right, 0, 1, MPI_LONG, win));
    FAILS(MPI_ERR_RMA_SYNC, MPI_Accumulate(&value, 1, MPI_LONG, right, 0, 1, MPI_LONG, MPI_SUM, win));
    FAILS(MPI_ERR_RMA_SYNC, MPI_Fetch_and_op(&value, &other, MPI_LONG, right, 0, MPI_SUM, win));
    FAILS(MPI_ERR_RMA_SYNC, MPI_Compare_and_swap(&value, &value, &other, MPI_LONG, right, 0, win));
    FAILS(MPI_ERR_RMA_SYNC, MPI_Win_unlock(right, win));
    FAILS(MPI_ERR_RMA_SYNC, MPI_Win_unlock_all(win));
    FAILS(MPI_ERR_RMA_SYNC, MPI_Win_flush(right, win));
    FAILS(MPI_ERR_RMA_SYNC, MPI_Win_flush_all(win));
    FAILS(MPI_ERR_RMA_SYNC, MPI_Win_flush_local(right, win));
    FAILS(MPI_ERR_RMA_SYNC, MPI_Win_flush_local_all(win));
    FAILS(MPI_ERR_RMA_SYNC, MPI_Win_complete(win));
    FAILS(MPI_ERR_RMA_SYNC, MPI_Win_wait(win));
    int flag;
    FAILS(MPI_ERR_RMA_SYNC, MPI_Win_test(win, &flag));
}

static void in_wrong_epochs(MPI_Win win)
{
    MPI_Request request;
    MPI_Group all;
    OK(MPI_Win_get_group(win, &all));
    OK(MPI_Win_lock(MPI_LOCK_SHARED, right, 0, win));
    FAILS(MPI_ERR_RMA_SYNC, MPI_Win_lock(MPI_LOCK_SHARED, right, 0, win));
    FAILS(MPI_ERR_RMA_SYNC, MPI_Win_lock_all(0, win));
    FAILS(MPI_ERR_RMA_SYNC, MPI_Win_fence(0, win));
    FAILS(MPI_ERR_RMA_SYNC, MPI_Win_start(all, 0, win));
    FAILS(MPI_ERR_RMA_SYNC, MPI_Win_unlock_all(win));
    FAILS(MPI_ERR_RMA_SYNC, MPI_Win_free(&win));
    if (size > 1) {
        FAILS(MPI_ERR_RMA_SYNC, MPI_Win_unlock(rank, win));
        FAILS(MPI_ERR_RMA_SYNC, MPI_Put(&value, 1, MPI_LONG, rank, 0, 1, MPI_LONG, win));
    }
    OK(MPI_Win_unlock(right, win));

    OK(MPI_Win_lock_all(0, win));
    FAILS(MPI_ERR_RMA_SYNC, MPI_Win_lock_all(0, win));
    FAILS(MPI_ERR_RMA_SYNC, MPI_Win_lock(MPI_LOCK_SHARED, right, 0, win));
    FAILS(MPI_ERR_RMA_SYNC, MPI_Win_unlock(right, win));
    OK(MPI_Win_unlock_all(win));

    OK(MPI_Win_post(all, 0, win));
    FAILS(MPI_ERR_RMA_SYNC, MPI_Win_post(all, 0, win));
    FAILS(MPI_ERR_RMA_SYNC, MPI_Win_fence(0, win));
    FAILS(MPI_ERR_RMA_SYNC, MPI_Win_free(&win));
    OK(MPI_Win_start(all, 0, win));
    FAILS(MPI_ERR_RMA_SYNC, MPI_Win_start(all, 0, win));
    FAILS(MPI_ERR_RMA_SYNC, MPI_Win_flush(right, win));
    FAILS(MPI_ERR_RMA_SYNC, MPI_Rput(&value, 1, MPI_LONG, right, 0, 1, MPI_LONG, win, &request));
    OK(MPI_Put(&value, 1, MPI_LONG, right, 0, 1, MPI_LONG, win));
    OK(MPI_Win_complete(win));
    put(win, MPI_ERR_RMA_SYNC);
    OK(MPI_Win_wait(win));
    CHECK_EQ(cells[0], 5);
    OK(MPI_Group_free(&all));

    /* After a fence there is an epoch only if something is done in it. */
    OK(MPI_Win_fence(0, win));
    OK(MPI_Win_lock(MPI_LOCK_SHARED, right, 0, win));
    OK(MPI_Win_unlock(right, win));
    put(win, MPI_ERR_RMA_SYNC);
    OK(MPI_Win_fence(0, win));
    OK(MPI_Put(&value, 1, MPI_LONG, right, 0, 1, MPI_LONG, win));
    FAILS(MPI_ERR_RMA_SYNC, MPI_Win_lock(MPI_LOCK_SHARED, right, 0, win));
    FAILS(MPI_ERR_RMA_SYNC, MPI_Win_free(&win));
    OK(MPI_Win_fence(MPI_MODE_NOSUCCEED, win));
    put(win, MPI_ERR_RMA_SYNC);
}

static void combine(void *in, void *inout, Count *count, MPI_Datatype *type)
{
    (void)in, (void)inout, (void)count, (void)type;
}

static void wrong_arguments(MPI_Win win)
{
    static double numbers[2];
    MPI_Datatype mixed, raw;
    MPI_Op own;
    Extent offsets[2] = {0, 8};
    Count lengths[2] = {1, 1};
    MPI_Datatype types[2] = {MPI_INT, MPI_DOUBLE};
    char place[16] = {0};
    MPI_Win none;
    OK(MPI_Win_fence(0, win));
    FAILS(MPI_ERR_RANK, MPI_Put(&value, 1, MPI_LONG, size, 0, 1, MPI_LONG, win));
    FAILS(MPI_ERR_RANK, MPI_Get(&value, 1, MPI_LONG, -17, 0, 1, MPI_LONG, win));
    FAILS(MPI_ERR_ARG, MPI_Win_create(NULL, 8, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &none));
    FAILS(MPI_ERR_COUNT, MPI_Put(&value, -1, MPI_LONG, right, 0, 1, MPI_LONG, win));
    FAILS(MPI_ERR_COUNT, MPI_Put(&value, 1, MPI_LONG, right, 0, -1, MPI_LONG, win));
    FAILS(MPI_ERR_TYPE, MPI_Put(&value, 1, MPI_DATATYPE_NULL, right, 0, 1, MPI_LONG, win));
    FAILS(MPI_ERR_TYPE, MPI_Get(&value, 1, MPI_LONG, right, 0, 1, MPI_DATATYPE_NULL, win));
    FAILS(MPI_ERR_DISP, MPI_Put(&value, 1, MPI_LONG, right, -1, 1, MPI_LONG, win));
    FAILS(MPI_ERR_RMA_RANGE, MPI_Put(&value, 1, MPI_LONG, right, 4, 1, MPI_LONG, win));
    FAILS(MPI_ERR_RMA_RANGE, MPI_Get(cells, 4, MPI_LONG, right, 1, 4, MPI_LONG, win));
    FAILS(MPI_ERR_RMA_RANGE, MPI_Fetch_and_op(&value, &other, MPI_LONG, right, 4, MPI_SUM, win));
    FAILS(MPI_ERR_TRUNCATE, MPI_Put(cells, 2, MPI_LONG, right, 0, 1, MPI_LONG, win));
    FAILS(MPI_ERR_TRUNCATE, MPI_Get(&value, 1, MPI_LONG, right, 0, 2, MPI_LONG, win));
    FAILS(MPI_ERR_OP, MPI_Accumulate(&value, 1, MPI_LONG, right, 0, 1, MPI_LONG, MPI_OP_NULL, win));
    FAILS(MPI_ERR_OP, MPI_Accumulate(&value, 1, MPI_LONG, right, 0, 1, MPI_LONG, MPI_NO_OP, win));
    FAILS(MPI_ERR_OP, MPI_Accumulate(numbers, 1, MPI_DOUBLE, right, 0, 1, MPI_DOUBLE, MPI_BAND, win));
    FAILS(MPI_ERR_TYPE, MPI_Compare_and_swap(numbers, numbers, numbers, MPI_DOUBLE, right, 0, win));

    OK(MPI_Type_create_struct(2, lengths, offsets, types, &mixed));
    FAILS(MPI_ERR_TYPE, MPI_Put(place, 1, mixed, right, 0, 1, mixed, win));
    OK(MPI_Type_commit(&mixed));
    OK(MPI_Put(place, 1, mixed, right, 0, 1, mixed, win));
    FAILS(MPI_ERR_TYPE, MPI_Accumulate(place, 1, mixed, right, 0, 1, mixed, MPI_REPLACE, win));
    FAILS(MPI_ERR_TYPE, MPI_Fetch_and_op(place, place, mixed, right, 0, MPI_REPLACE, win));
    OK(MPI_Type_contiguous(1, MPI_LONG, &raw));
    OK(MPI_Type_commit(&raw));
    FAILS(MPI_ERR_TYPE, MPI_Fetch_and_op(&value, &other, raw, right, 0, MPI_SUM, win));
    FAILS(MPI_ERR_TYPE, MPI_Compare_and_swap(&value, &value, &other, raw, right, 0, win));
    OK(MPI_Op_create(combine, 1, &own));
    FAILS(MPI_ERR_OP, MPI_Accumulate(&value, 1, MPI_LONG, right, 0, 1, MPI_LONG, own, win));
    OK(MPI_Op_free(&own));
    OK(MPI_Type_free(&mixed));
    OK(MPI_Type_free(&raw));
    FAILS(MPI_ERR_ASSERT, MPI_Win_fence(1, win));
    OK(MPI_Win_fence(0, win));
    FAILS(MPI_ERR_RANK, MPI_Win_lock(MPI_LOCK_SHARED, size, 0, win));
    FAILS(MPI_ERR_LOCKTYPE, MPI_Win_lock(0, right, 0, win));
    FAILS(MPI_ERR_ASSERT, MPI_Win_lock(MPI_LOCK_SHARED, right, MPI_MODE_NOPUT, win));
    FAILS(MPI_ERR_ASSERT, MPI_Win_lock_all(MPI_MODE_NOPUT, win));
    FAILS(MPI_ERR_GROUP, MPI_Win_start(MPI_GROUP_NULL, 0, win));
    FAILS(MPI_ERR_RMA_FLAVOR, MPI_Win_attach(win, cells, sizeof cells));
    FAILS(MPI_ERR_RMA_FLAVOR, MPI_Win_detach(win, cells));
    OK(MPI_Win_lock(MPI_LOCK_SHARED, MPI_PROC_NULL, 0, win));
    OK(MPI_Win_flush(MPI_PROC_NULL, win));
    OK(MPI_Win_unlock(MPI_PROC_NULL, win));
    OK(MPI_Win_post(MPI_GROUP_EMPTY, 0, win));
    OK(MPI_Win_start(MPI_GROUP_EMPTY, 0, win));
    put(win, MPI_ERR_RMA_SYNC);
    OK(MPI_Win_complete(win));
    OK(MPI_Win_wait(win));
}

static void wrong_windows(void)
{
    MPI_Win win;
    MPI_Comm inter;
    FAILS(MPI_ERR_WIN, MPI_Win_fence(0, MPI_WIN_NULL));
    win = MPI_WIN_NULL;
    FAILS(MPI_ERR_WIN, MPI_Win_free(&win));
    put(MPI_WIN_NULL, MPI_ERR_WIN);
    FAILS(MPI_ERR_SIZE, MPI_Win_create(cells, -1, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &win));
    FAILS(MPI_ERR_DISP, MPI_Win_create(cells, 1, 0, MPI_INFO_NULL, MPI_COMM_WORLD, &win));
    FAILS(MPI_ERR_SIZE, MPI_Win_allocate(-1, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &value, &win));
    FAILS(MPI_ERR_COMM, MPI_Win_create(cells, 1, 1, MPI_INFO_NULL, MPI_COMM_NULL, &win));
    if (size > 1) {
        MPI_Comm half;
        OK(MPI_Comm_split(MPI_COMM_WORLD, rank % 2, 0, &half));
        OK(MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, 1 - rank % 2, 0, &inter));
        OK(MPI_Comm_set_errhandler(inter, MPI_ERRORS_RETURN));
        FAILS(MPI_ERR_COMM, MPI_Win_create(cells, 1, 1, MPI_INFO_NULL, inter, &win));
        OK(MPI_Comm_free(&inter));
        OK(MPI_Comm_free(&half));
    }
}

/* Only the target knows what is attached: the origin learns of an error when it synchronizes. */
static void unattached(void)
{
    MPI_Win win;
    MPI_Request request;
    MPI_Aint own, place;
    OK(MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &win));
    OK(MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN));
    FAILS(MPI_ERR_RMA_ATTACH, MPI_Win_detach(win, cells));
    FAILS(MPI_ERR_SIZE, MPI_Win_attach(win, cells, -1));
    FAILS(MPI_ERR_RMA_ATTACH, MPI_Win_attach(win, NULL, 8));
    OK(MPI_Win_attach(win, NULL, 0));
    OK(MPI_Win_detach(win, NULL));
    /* Nothing at the place of something is no obstacle to it. */
    OK(MPI_Win_attach(win, cells, 0));
    OK(MPI_Win_attach(win, cells, sizeof cells));
    FAILS(MPI_ERR_RMA_ATTACH, MPI_Win_attach(win, &cells[1], sizeof cells));
    OK(MPI_Get_address(cells, &own));
    OK(MPI_Sendrecv(&own, 1, MPI_AINT, (rank + size - 1) % size, 0, &place, 1, MPI_AINT, right, 0, MPI_COMM_WORLD,
                    MPI_STATUS_IGNORE));
    OK(MPI_Win_lock(MPI_LOCK_SHARED, right, 0, win));
    OK(MPI_Put(&value, 1, MPI_LONG, right, place + (MPI_Aint)sizeof cells, 1, MPI_LONG, win));
    FAILS(MPI_ERR_RMA_RANGE, MPI_Win_flush(right, win));
    OK(MPI_Get(&other, 1, MPI_LONG, right, place + (MPI_Aint)sizeof cells - 1, 1, MPI_LONG, win));
    FAILS(MPI_ERR_RMA_RANGE, MPI_Win_flush(right, win));
    OK(MPI_Rget(&other, 1, MPI_LONG, right, place - 1, 1, MPI_LONG, win, &request));
    FAILS(MPI_ERR_RMA_RANGE, MPI_Wait(&request, MPI_STATUS_IGNORE));
    OK(MPI_Accumulate(&value, 1, MPI_LONG, right, 8, 1, MPI_LONG, MPI_SUM, win));
    FAILS(MPI_ERR_RMA_RANGE, MPI_Win_unlock(right, win));
    OK(MPI_Win_fence(0, win));
    OK(MPI_Put(&value, 1, MPI_LONG, right, place + (MPI_Aint)sizeof(long), 1, MPI_LONG, win));
    OK(MPI_Win_fence(0, win));
    CHECK_EQ(cells[1], 5);
    OK(MPI_Win_detach(win, cells));
    OK(MPI_Win_free(&win));
}

int main(int argc, char **argv)
{
    MPI_Win win;
    check_begin(&argc, &argv);
    right = (rank + 1) % size;
    OK(MPI_Win_create(cells, sizeof cells, sizeof(long), MPI_INFO_NULL, MPI_COMM_WORLD, &win));
    OK(MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN));
    outside_of_epochs(win);
    in_wrong_epochs(win);
    wrong_arguments(win);
    OK(MPI_Win_free(&win));
    wrong_windows();
    unattached();
    return check_end();
}
