/* Windows of shared memory: loads and stores of one process are seen by the others, and operations go on as on any window. */
#include "../check.h"

static MPI_Comm host;
static int me, all;

/* All memory is one piece, whatever its parts. */
static void contiguous(void)
{
    MPI_Win win;
    MPI_Aint bytes;
    Displacement unit;
    int *own, *theirs, *first, cells = me == 1 ? 0 : me + 1, before = 0, *flavor, found;
    OK(MPI_Win_allocate_shared((MPI_Aint)(cells * sizeof(int)), sizeof(int), MPI_INFO_NULL, host, &own, &win));
    OK(MPI_Win_get_attr(win, MPI_WIN_CREATE_FLAVOR, &flavor, &found));
    CHECK(found && *flavor == MPI_WIN_FLAVOR_SHARED);
    OK(MPI_Win_shared_query(win, MPI_PROC_NULL, &bytes, &unit, &first));
    CHECK_EQ(bytes, sizeof(int));
    CHECK_EQ(unit, sizeof(int));
    OK(MPI_Win_fence(0, win));
    for (int i = 0; i < cells; i++) {
        own[i] = 100 * me + i;
    }
    OK(MPI_Win_sync(win));
    OK(MPI_Win_fence(0, win));
    for (int peer = 0; peer < all; peer++) {
        int count = peer == 1 ? 0 : peer + 1;
        OK(MPI_Win_shared_query(win, peer, &bytes, &unit, &theirs));
        CHECK_EQ(bytes, count * sizeof(int));
        CHECK_EQ(unit, sizeof(int));
        if (count > 0) {
            CHECK(theirs == first + before);
        }
        for (int i = 0; i < count; i++) {
            CHECK_EQ(theirs[i], 100 * peer + i);
        }
        before += count;
    }
    OK(MPI_Win_fence(0, win));
    OK(MPI_Win_free(&win));
}

static void apart(void)
{
    MPI_Win win;
    MPI_Info info;
    MPI_Aint bytes;
    Displacement unit;
    char value[8];
    int flag, length = sizeof value;
    unsigned char *own, *theirs;
    OK(MPI_Info_create(&info));
    OK(MPI_Info_set(info, "alloc_shared_noncontig", "true"));
    OK(MPI_Win_allocate_shared(1000 + me, 1, info, host, &own, &win));
    OK(MPI_Info_free(&info));
    OK(MPI_Win_get_info(win, &info));
    OK(MPI_Info_get_string(info, "alloc_shared_noncontig", &length, value, &flag));
    CHECK(flag && strcmp(value, "true") == 0);
    OK(MPI_Info_free(&info));
    fill(own, (size_t)(1000 + me), (unsigned)me);
    OK(MPI_Win_fence(0, win));
    for (int peer = 0; peer < all; peer++) {
        OK(MPI_Win_shared_query(win, peer, &bytes, &unit, &theirs));
        CHECK_EQ(bytes, 1000 + peer);
        CHECK_EQ(unit, 1);
        CHECK(filled(theirs, (size_t)bytes, (unsigned)peer));
    }
    OK(MPI_Win_fence(0, win));
    OK(MPI_Win_free(&win));
}

/* Stores of one process let the next go on: nobody calls MPI in between but to synchronize memory. */
static void hand_on(void)
{
    MPI_Win win;
    MPI_Aint bytes;
    Displacement unit;
    _Atomic int *turn;
    int *base;
    OK(MPI_Win_allocate_shared(me == 0 ? sizeof(int) : 0, sizeof(int), MPI_INFO_NULL, host, &base, &win));
    OK(MPI_Win_shared_query(win, 0, &bytes, &unit, &base));
    turn = (_Atomic int *)base;
    OK(MPI_Win_lock_all(MPI_MODE_NOCHECK, win));
    OK(MPI_Barrier(host));
    for (int round = 0; round < 5; round++) {
        while (*turn != round * all + me) {
            OK(MPI_Win_sync(win));
        }
        *turn += 1;
    }
    OK(MPI_Barrier(host));
    CHECK_EQ(*turn, 5 * all);
    OK(MPI_Win_unlock_all(win));
    OK(MPI_Win_free(&win));
}

static void operations(void)
{
    MPI_Win win;
    long *own, one = 1, before, got = -1, put = 7;
    int next = (me + 1) % all;
    OK(MPI_Win_allocate_shared(4 * sizeof(long), sizeof(long), MPI_INFO_NULL, host, &own, &win));
    memset(own, 0, 4 * sizeof(long));
    OK(MPI_Barrier(host));
    OK(MPI_Win_lock_all(0, win));
    for (int i = 0; i < 50; i++) {
        OK(MPI_Fetch_and_op(&one, &before, MPI_LONG, i % all, 0, MPI_SUM, win));
        OK(MPI_Accumulate(&one, 1, MPI_LONG, i % all, 1, 1, MPI_LONG, MPI_SUM, win));
    }
    OK(MPI_Put(&put, 1, MPI_LONG, next, 2, 1, MPI_LONG, win));
    OK(MPI_Win_flush(next, win));
    OK(MPI_Get(&got, 1, MPI_LONG, next, 2, 1, MPI_LONG, win));
    OK(MPI_Win_unlock_all(win));
    CHECK_EQ(got, 7);
    OK(MPI_Barrier(host));
    CHECK_EQ(own[0], (50 / all + (me < 50 % all)) * all);
    CHECK_EQ(own[1], own[0]);
    CHECK_EQ(own[2], 7);
    OK(MPI_Win_free(&win));
}

/* Nothing, and what cannot be. */
static void odd_windows(void)
{
    MPI_Win win;
    MPI_Aint bytes;
    Displacement unit;
    void *base;
    static long cells[2];
    OK(MPI_Win_allocate_shared(0, 1, MPI_INFO_NULL, host, &base, &win));
    OK(MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN));
    OK(MPI_Win_shared_query(win, MPI_PROC_NULL, &bytes, &unit, &base));
    CHECK_EQ(bytes, 0);
    FAILS(MPI_ERR_RANK, MPI_Win_shared_query(win, all, &bytes, &unit, &base));
    OK(MPI_Win_free(&win));

    OK(MPI_Win_create_dynamic(MPI_INFO_NULL, host, &win));
    OK(MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN));
    FAILS(MPI_ERR_RMA_FLAVOR, MPI_Win_shared_query(win, 0, &bytes, &unit, &base));
    OK(MPI_Win_free(&win));

    OK(MPI_Win_create(cells, sizeof cells, 8, MPI_INFO_NULL, host, &win));
    OK(MPI_Win_shared_query(win, me, &bytes, &unit, &base));
    CHECK(bytes == sizeof cells && unit == 8 && base == cells);
    OK(MPI_Win_free(&win));

    OK(MPI_Win_allocate_shared(24, 8, MPI_INFO_NULL, MPI_COMM_SELF, &base, &win));
    memset(base, 1, 24);
    OK(MPI_Win_free(&win));
}

int main(int argc, char **argv)
{
    check_begin(&argc, &argv);
    OK(MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &host));
    OK(MPI_Comm_set_errhandler(host, MPI_ERRORS_RETURN));
    OK(MPI_Comm_rank(host, &me));
    OK(MPI_Comm_size(host, &all));
    contiguous();
    apart();
    hand_on();
    operations();
    odd_windows();
    OK(MPI_Comm_free(&host));
    return check_end();
}
