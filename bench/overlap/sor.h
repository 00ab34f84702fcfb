/*
 * What the parts of the solver share: the part of the field that a rank has, and the versions of what is done with it.
 */
#ifndef POSTRIDER_BENCH_SOR_H
#define POSTRIDER_BENCH_SOR_H

#include "../src/measure.h"

/* How borders come to the neighbours. */
enum exchange { EXCHANGE_SENDRECV, EXCHANGE_PERSISTENT, EXCHANGE_FILE };

/* How the field is read and written. */
enum io { IO_ROOT, IO_COLLECTIVE, IO_ROWS, IO_RING };

/* The rows and columns of a rank, inside of one row and column on each side that are the neighbours' or the boundary. */
struct part {
    MPI_Comm grid;
    int rank, ranks, up, down, left, right;
    /* Of the whole field. */
    long whole_rows, whole_columns;
    /* Where the part begins, and how long its sides are. */
    long first_row, first_column;
    int rows, columns;
    double *field;
    MPI_Datatype column;
    /* For the exchange by persistent requests, and by a file. */
    MPI_Request requests[8];
    int borders;
    /* Where files are, and the whole field, at rank 0 alone, where that reads and writes for all. */
    const char *directory;
    double *whole;
};

/* Where a number of the part is; rows and columns of the part itself begin with 1. */
static inline double *at(const struct part *p, int row, int column)
{
    return p->field + (size_t)row * (size_t)(p->columns + 2) + column;
}

/* Where a number of the whole field is in a file. */
static inline long long offset(const struct part *p, long row, long column)
{
    return (long long)sizeof(double) * ((long long)row * p->whole_columns + column);
}

/* The rows and columns of another rank. */
void part_of(const struct part *p, int rank, long first[2], int sides[2]);

/* Before the first exchange, and after the last. */
void exchange_begin(struct part *p, enum exchange way);
void exchange_end(struct part *p, enum exchange way);

/* Has the rows and columns of the neighbours beside the part. */
void exchange_run(struct part *p, enum exchange way);

/* Has rank 0 make the file that is read, and removes what an earlier run has left. Collective. */
void files_make(struct part *p);

/* Reads the part. Collective. */
void files_read(struct part *p, enum io way);

/* Writes it behind what `frame` earlier calls have written. Collective. */
void files_write(struct part *p, enum io way, int frame);

/* The file `name` in the directory, opened by the system; ends the job where that fails. */
int files_open(const struct part *p, const char *name, int flags);

/* Reads or writes all of these bytes where the file stands. */
void files_move(int file, void *data, size_t bytes, int is_writing);

/* Removes a file; it may not be there. */
void files_remove(const struct part *p, const char *name);

#endif
