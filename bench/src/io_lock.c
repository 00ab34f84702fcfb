/*
 * What the lock of atomic mode costs, seen through MPI-IO: writes of 8 bytes.
 *
 *   lock      the last rank alone, in atomic mode, without it, and by as many fetch-and-operations on a window of rank 0, in turn. The lock is the
 *             difference of the first two. The other ranks wait in a barrier.
 *   contended all ranks for a while at the same bytes: how many accesses there are, and how many of the rank that has the fewest by those of the
 *             rank that has the most.
 */
#include "io.h"

#include <stdint.h>
#include <stdlib.h>

enum { CALLS = 20 };

struct lock {
    struct io *io;
    MPI_File file;
    MPI_Win window;
    int64_t number, result;
};

static double write_number(struct lock *l, int is_atomic)
{
    double spent_s = 0;
    io_try(MPI_File_set_atomicity(l->file, is_atomic), "MPI_File_set_atomicity");
    MPI_Barrier(MPI_COMM_WORLD);
    if (l->io->rank == l->io->ranks - 1) {
        spent_s = -record_now();
        for (int i = 0; i < CALLS; i++) {
            l->number++;
            io_try(MPI_File_write_at(l->file, 0, &l->number, 1, MPI_INT64_T, MPI_STATUS_IGNORE), "MPI_File_write_at");
        }
        spent_s += record_now();
    }
    return spent_s / CALLS;
}

static double fetch_and_op(struct lock *l)
{
    int64_t one = 1;
    double spent_s = 0;
    MPI_Barrier(MPI_COMM_WORLD);
    if (l->io->rank == l->io->ranks - 1) {
        spent_s = -record_now();
        for (int i = 0; i < CALLS; i++) {
            MPI_Fetch_and_op(&one, &l->result, MPI_INT64_T, 0, 0, MPI_SUM, l->window);
            MPI_Win_flush(0, l->window);
        }
        spent_s += record_now();
    }
    return spent_s / CALLS;
}

static void three_in_turn(void *context, int round, double *spent_s)
{
    struct lock *l = context;
    (void)round;
    spent_s[0] = write_number(l, 1);
    spent_s[1] = write_number(l, 0);
    spent_s[2] = fetch_and_op(l);
    spent_s[3] = spent_s[0] - spent_s[1];
}

static void check_number(struct lock *l)
{
    int64_t *content = io_content(l->io, sizeof *content), last = l->number;
    MPI_Bcast(&last, 1, MPI_INT64_T, l->io->ranks - 1, MPI_COMM_WORLD);
    if (content != NULL && *content != last)
        io_wrong("another number than the last that was written");
    free(content);
}

static void uncontended(struct io *io)
{
    static const char *const names[] = {"lock-write-atomic", "lock-write-plain", "lock-fetch-and-op", "lock-uncontended"};
    struct lock l = {io, MPI_FILE_NULL, MPI_WIN_NULL, 0, 0};
    struct measured found[4];
    int64_t *memory;
    MPI_Win_allocate(sizeof *memory, sizeof *memory, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &l.window);
    *memory = 0;
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_lock_all(0, l.window);
    io_make(io, "lock", &l.number, sizeof l.number);
    l.file = io_open(io);
    io_rounds(io, three_in_turn, &l, 1, 4, found);
    io_close(&l.file);
    MPI_Win_unlock_all(l.window);
    MPI_Win_free(&l.window);
    check_number(&l);
    io_remove(io);
    for (int i = 0; io->rank == 0 && i < 4; i++)
        record_print(names[i], io->ranks, sizeof l.number, found[i], 1e6, "us");
}

/* Accesses of this rank until the time is over; the number that it writes says whose it is and which. */
static int64_t write_for_a_while(struct lock *l, double *spent_s)
{
    double begun_s;
    int64_t count = 0;
    MPI_Barrier(MPI_COMM_WORLD);
    begun_s = record_now();
    while ((*spent_s = record_now() - begun_s) < 4 * l->io->settings.budget_s) {
        l->number = ((int64_t)l->io->rank << 40) + ++count;
        io_try(MPI_File_write_at(l->file, 0, &l->number, 1, MPI_INT64_T, MPI_STATUS_IGNORE), "MPI_File_write_at");
    }
    return count;
}

static void check_last(struct io *io, const int64_t *counts)
{
    int64_t *content = io_content(io, sizeof *content);
    if (content != NULL) {
        int64_t rank = *content >> 40, count = *content & (((int64_t)1 << 40) - 1);
        if (rank < 0 || rank >= io->ranks || counts[rank] != count)
            io_wrong("a number that is no rank's last");
    }
    free(content);
}

static void print_contended(struct io *io, const int64_t *counts, double spent_s)
{
    int64_t all = 0, fewest = counts[0], most = counts[0];
    struct measured rate, fairness = {0, 0, 0, 1};
    for (int i = 0; i < io->ranks; i++) {
        all += counts[i];
        fewest = counts[i] < fewest ? counts[i] : fewest;
        most = counts[i] > most ? counts[i] : most;
    }
    rate = record_median(&spent_s, 1, all);
    record_print_rate("contended-throughput", io->ranks, sizeof all, rate, 1e-3 * (double)all, "thousand/s");
    fairness.median_s = fairness.best_s = fairness.worst_s = most > 0 ? (double)fewest / (double)most : 0;
    record_print("contended-fairness", io->ranks, sizeof all, fairness, 100, "%");
}

static void contended(struct io *io)
{
    struct lock l = {io, MPI_FILE_NULL, MPI_WIN_NULL, 0, 0};
    int64_t count, *counts = measure_buffer((size_t)io->ranks * sizeof *counts);
    double spent_s, longest_s;
    io_make(io, "contended", &l.number, sizeof l.number);
    l.file = io_open(io);
    io_try(MPI_File_set_atomicity(l.file, 1), "MPI_File_set_atomicity");
    count = write_for_a_while(&l, &spent_s);
    MPI_Allgather(&count, 1, MPI_INT64_T, counts, 1, MPI_INT64_T, MPI_COMM_WORLD);
    MPI_Allreduce(&spent_s, &longest_s, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    io_close(&l.file);
    check_last(io, counts);
    io_remove(io);
    if (io->rank == 0)
        print_contended(io, counts, longest_s);
    free(counts);
}

static const struct io_operation operations[] = {{"lock", uncontended}, {"contended", contended}};

int main(int argc, char **argv)
{
    return io_main(argc, argv, operations, sizeof operations / sizeof operations[0]);
}
