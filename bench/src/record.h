/*
 * What every program of the bench needs, with MPI or without: the clock, the median of a few batches, and the line of
 * JSON that the runner reads. One line is one measurement; further fields may be added, none may change its meaning.
 */
#ifndef POSTRIDER_BENCH_RECORD_H
#define POSTRIDER_BENCH_RECORD_H

#include <stddef.h>

enum { RECORD_BATCHES_MIN = 3, RECORD_BATCHES_MAX = 15 };

/* Seconds per iteration: the median of the batches, the best and the worst of them. */
struct measured {
    double median_s, best_s, worst_s;
    long long iterations;
};

/* Seconds on the monotonic clock. */
double record_now(void);

/* Sorts the `count` times and keeps their median, best and worst. */
struct measured record_median(double *times_s, int count, long long iterations);

/* Runs `iterations` of something and returns the seconds it took. */
typedef double (*record_batch)(void *context, int iterations);

/*
 * Doubles the iteration count until a batch takes a tenth of `budget_s`, then runs batches until the budget is used.
 * A batch that is long only because the processes were not yet running, or were interrupted, must not end the
 * doubling: it ends when three batches of the same count were long enough, or one used the whole budget, and goes on when all
 * batches together turn out to be short.
 */
struct measured record_adaptive(record_batch batch, void *context, double budget_s, int iterations_max);

/* One line on standard output: seconds per iteration times `scale`, in `unit`. */
void record_print(const char *figure, int ranks, size_t bytes, struct measured m, double scale, const char *unit);

/* The same for a rate: `amount` per iteration divided by the time. */
void record_print_rate(const char *figure, int ranks, size_t bytes, struct measured m, double amount,
                       const char *unit);

#endif
