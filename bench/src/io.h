/*
 * What the programs about files share: a file of its own for each operation, rounds in turn, and checks by the system's own
 * calls, so that nobody is fast by being wrong.
 *
 * A round begins with a barrier for each of its quantities, and its time is the mean of the ranks' own times, as in the paper on atomic mode
 * and shared pointers: "average time per process". The median of the rounds is reported.
 */
#ifndef POSTRIDER_BENCH_IO_H
#define POSTRIDER_BENCH_IO_H

#include "measure.h"

enum { IO_ROUNDS_MIN = 3, IO_ROUNDS_MAX = 2000, IO_QUANTITIES_MAX = 4 };

/* A job, the size that it measures, and the file of the operation under test. */
struct io {
    struct settings settings;
    int rank, ranks;
    size_t bytes;
    char path[4096];
};

/* One operation: it measures and prints, for the size that `io` has. */
struct io_operation {
    const char *name;
    void (*run)(struct io *io);
};

/* Initialises MPI, runs the chosen operations of the table for each size, says `{"done":NAME}` after each, and finalises. */
int io_main(int argc, char **argv, const struct io_operation *operations, int count);

/* Ends the job with the text of the error unless `code` is MPI_SUCCESS. */
void io_try(int code, const char *call);

/* Ends the job, which has found something else in a file than what belongs there. */
void io_wrong(const char *what);

/* Names the file of an operation, and has rank 0 make it anew with these bytes, by the system's own calls. Collective. */
void io_make(struct io *io, const char *name, const void *content, size_t bytes);

/* The first `bytes` of the file at rank 0, read by the system's own calls, and NULL elsewhere. Collective, after the file was closed. */
void *io_content(struct io *io, size_t bytes);

/* Opens the file for reading and writing. Collective. */
MPI_File io_open(struct io *io);

/* Closes it. Collective. */
void io_close(MPI_File *file);

/* Has a file system of FUSE forget what it holds of the file, so that reads are served by it and not from memory. Elsewhere what was
   written stays in memory. Collective. */
void io_forget(struct io *io);

/* Removes it. Collective. */
void io_remove(struct io *io);

/* Fills `spent_s`, this rank's time for each quantity; zeros where it only waits. All ranks run round 0, 1, 2, … at once. */
typedef void (*io_round)(void *context, int round, double *spent_s);

/* Runs rounds until the time is used, and finds each quantity, the mean of the `counted` ranks that have times. Round 0 warms up. The
   number of rounds is returned. */
int io_rounds(struct io *io, io_round round, void *context, int counted, int quantities, struct measured *found);

#endif
