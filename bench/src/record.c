/*
 * Clock, adaptive batches and the line of JSON; described in record.h.
 */
#define _POSIX_C_SOURCE 200809L
#include "record.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

double record_now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static int compare_doubles(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

struct measured record_median(double *times_s, int count, long long iterations)
{
    struct measured m;
    qsort(times_s, (size_t)count, sizeof times_s[0], compare_doubles);
    m.best_s = times_s[0];
    m.worst_s = times_s[count - 1];
    m.median_s = 0.5 * (times_s[count / 2] + times_s[(count - 1) / 2]);
    m.iterations = iterations;
    return m;
}

static int is_long_enough(record_batch batch, void *context, int iterations, double enough_s)
{
    for (int attempt = 0; attempt < 3; attempt++) {
        double t = batch(context, iterations);
        if (t < enough_s)
            return 0;
        if (t > 10.0 * enough_s)
            return 1;
    }
    return 1;
}

struct measured record_adaptive(record_batch batch, void *context, double budget_s, int iterations_max)
{
    double times_s[RECORD_BATCHES_MAX], used_s;
    int iterations = 1, count;

    for (;;) {
        while (iterations < iterations_max && !is_long_enough(batch, context, iterations, 0.1 * budget_s))
            iterations = 2 * iterations < iterations_max ? 2 * iterations : iterations_max;
        used_s = 0.0;
        count = 0;
        while (count < RECORD_BATCHES_MAX && (used_s < budget_s || count < RECORD_BATCHES_MIN)) {
            double t = batch(context, iterations);
            used_s += t;
            times_s[count++] = t / iterations;
        }
        if (used_s >= 0.5 * budget_s || iterations == iterations_max)
            return record_median(times_s, count, (long long)iterations * count);
        iterations = 2 * iterations < iterations_max ? 2 * iterations : iterations_max;
    }
}

static void print_line(const char *figure, int ranks, size_t bytes, long long iterations, double value, double best,
                       double worst, const char *unit)
{
    printf("{\"figure\":\"%s\",\"ranks\":%d,\"bytes\":%zu,\"value\":%.6g,\"best\":%.6g,\"worst\":%.6g,"
           "\"unit\":\"%s\",\"iterations\":%lld}\n",
           figure, ranks, bytes, value, best, worst, unit, iterations);
    fflush(stdout);
}

void record_print(const char *figure, int ranks, size_t bytes, struct measured m, double scale, const char *unit)
{
    print_line(figure, ranks, bytes, m.iterations, m.median_s * scale, m.best_s * scale, m.worst_s * scale, unit);
}

void record_print_rate(const char *figure, int ranks, size_t bytes, struct measured m, double amount,
                       const char *unit)
{
    print_line(figure, ranks, bytes, m.iterations, amount / m.median_s, amount / m.best_s, amount / m.worst_s, unit);
}
