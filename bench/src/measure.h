/*
 * Adaptive timing of MPI operations.
 *
 * A figure is measured in batches: the iteration count is doubled until one batch takes about a tenth of the time
 * budget, then batches run until the budget is used, and their median is reported. An engine that needs 40 ms for what
 * another does in half a microsecond therefore costs the same time on the clock, which a fixed count could not give.
 *
 * Every batch starts after a barrier, and its time is that of the slowest rank (a reduction by maximum, which is exact),
 * so that all ranks take the same decisions without further messages. The clock is the system's monotonic one for every
 * engine, not MPI_Wtime, whose resolution is a matter of the engine.
 */
#ifndef POSTRIDER_BENCH_MEASURE_H
#define POSTRIDER_BENCH_MEASURE_H

#include "record.h"

#include <mpi.h>
#include <stddef.h>

enum { MEASURE_SIZES_MAX = 64 };

/* What the command line says: message sizes in bytes, time for each size in seconds, a bound on a batch, one on the
   messages under way, what is to be measured, and where files are. */
struct settings {
    size_t sizes[MEASURE_SIZES_MAX];
    int size_count;
    double budget_s;
    int iterations_max;
    int window;
    const char *operation;
    const char *directory;
};

/* Runs `iterations` of the operation under test. Called by all ranks at once. */
typedef void (*measure_body)(void *context, int iterations);

/* Reads --sizes A,B,…  --budget-ms N  --iterations-max N  --window N  --operation NAME  --directory PATH; ends the job when one
   is wrong. */
void measure_arguments(struct settings *settings, int argc, char **argv);

/* The largest of the sizes. */
size_t measure_largest(const struct settings *settings);

/* Whether --operation, a list of names separated by commas, or "all", has this name. */
int measure_is_chosen(const struct settings *settings, const char *name);

/* Times `body` on all ranks of MPI_COMM_WORLD. */
struct measured measure(const struct settings *settings, measure_body body, void *context);

/* Memory whose pages are all present, filled with zeros; ends the job when there is none. */
void *measure_buffer(size_t bytes);

/* Ends the job with a sentence that says what is wrong. */
void measure_fail(const char *sentence, const char *detail);

#endif
