/*
 * The exchange of borders between iterations, as the solver in sor.c has it: four blocking calls, of rows and of columns, and the first touch of
 * what has come. Sizes are numbers of points on a side of the part that a rank has.
 *
 * Ranks are on a torus whose rows are joined end to end, so that each has four neighbours, with 2 ranks the same one four times. Operations:
 * border, and border-before-work, where 300 us of work come before the touch, which are not counted; with "-by-hand" the same
 * with nonblocking calls. A name that the figure does not have says who did it: the ways of the session.
 */
#include "../src/measure.h"
#include "../src/work.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* Microseconds of work before the first touch, where there is some. */
#define WORK_US 300.0

struct border {
    double *field;
    int n, up, down, left, right;
    MPI_Datatype column;
    long steps;
};

static double *at(const struct border *b, int row, int column)
{
    return b->field + (size_t)row * (size_t)(b->n + 2) + column;
}

static void blocking(struct border *b)
{
    int n = b->n;
    MPI_Sendrecv(at(b, 1, 1), n, MPI_DOUBLE, b->up, 1, at(b, n + 1, 1), n, MPI_DOUBLE, b->down, 1, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
    MPI_Sendrecv(at(b, n, 1), n, MPI_DOUBLE, b->down, 2, at(b, 0, 1), n, MPI_DOUBLE, b->up, 2, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
    MPI_Sendrecv(at(b, 1, 1), 1, b->column, b->left, 3, at(b, 1, n + 1), 1, b->column, b->right, 3, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
    MPI_Sendrecv(at(b, 1, n), 1, b->column, b->right, 4, at(b, 1, 0), 1, b->column, b->left, 4, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
}

static void start(struct border *b, MPI_Request requests[8])
{
    int n = b->n;
    MPI_Irecv(at(b, n + 1, 1), n, MPI_DOUBLE, b->down, 1, MPI_COMM_WORLD, requests);
    MPI_Irecv(at(b, 0, 1), n, MPI_DOUBLE, b->up, 2, MPI_COMM_WORLD, requests + 1);
    MPI_Irecv(at(b, 1, n + 1), 1, b->column, b->right, 3, MPI_COMM_WORLD, requests + 2);
    MPI_Irecv(at(b, 1, 0), 1, b->column, b->left, 4, MPI_COMM_WORLD, requests + 3);
    MPI_Isend(at(b, 1, 1), n, MPI_DOUBLE, b->up, 1, MPI_COMM_WORLD, requests + 4);
    MPI_Isend(at(b, n, 1), n, MPI_DOUBLE, b->down, 2, MPI_COMM_WORLD, requests + 5);
    MPI_Isend(at(b, 1, 1), 1, b->column, b->left, 3, MPI_COMM_WORLD, requests + 6);
    MPI_Isend(at(b, 1, n), 1, b->column, b->right, 4, MPI_COMM_WORLD, requests + 7);
}

/* The next iteration reads what has come, and changes what was sent. */
static void touch(struct border *b)
{
    int n = b->n;
    double sum = *at(b, 0, 1) + *at(b, n + 1, n) + *at(b, 1, 0) + *at(b, n, n + 1);
    *at(b, 1, 1) += 1e-9 * sum;
    *at(b, n, n) += 1e-9 * sum;
}

static void body_blocking(void *context, int iterations)
{
    struct border *b = context;
    for (int i = 0; i < iterations; i++) {
        blocking(b);
        work(b->steps);
        touch(b);
    }
}

/* The usual way by hand: what is not needed yet is done while the messages are on their way. */
static void body_by_hand(void *context, int iterations)
{
    struct border *b = context;
    for (int i = 0; i < iterations; i++) {
        MPI_Request requests[8];
        start(b, requests);
        MPI_Waitall(8, requests, MPI_STATUSES_IGNORE);
        work(b->steps);
        touch(b);
    }
}

/* The best way by hand, which only a program has whose work does not need what comes. */
static void body_late(void *context, int iterations)
{
    struct border *b = context;
    for (int i = 0; i < iterations; i++) {
        MPI_Request requests[8];
        start(b, requests);
        work(b->steps);
        MPI_Waitall(8, requests, MPI_STATUSES_IGNORE);
        touch(b);
    }
}

static void body_work(void *context, int iterations)
{
    struct border *b = context;
    for (int i = 0; i < iterations; i++)
        work(b->steps);
}

static const struct {
    const char *name, *figure;
    measure_body body;
    int has_work;
} operations[] = {
    {"border", "border", body_blocking, 0},
    {"border-before-work", "border-before-work", body_blocking, 1},
    {"border-by-hand", "border", body_by_hand, 0},
    {"border-before-work-by-hand", "border-before-work", body_by_hand, 1},
    {"border-before-work-late", "border-before-work", body_late, 1},
};

int main(int argc, char **argv)
{
    struct settings settings;
    struct border b;
    int rank, ranks, columns;

    MPI_Init(&argc, &argv);
    measure_arguments(&settings, argc, argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    columns = (int)sqrt((double)ranks);
    b.up = (rank + ranks - columns) % ranks;
    b.down = (rank + columns) % ranks;
    b.left = (rank + ranks - 1) % ranks;
    b.right = (rank + 1) % ranks;
    double step_s = work_step_s();
    for (int i = 0; i < settings.size_count; i++) {
        b.n = (int)settings.sizes[i];
        b.field = measure_buffer((size_t)(b.n + 2) * (size_t)(b.n + 2) * sizeof *b.field);
        MPI_Type_vector(b.n, 1, b.n + 2, MPI_DOUBLE, &b.column);
        MPI_Type_commit(&b.column);
        for (size_t k = 0; k < sizeof operations / sizeof *operations; k++) {
            if (!measure_is_chosen(&settings, operations[k].name))
                continue;
            b.steps = operations[k].has_work ? (long)(WORK_US * 1e-6 / step_s) : 0;
            struct measured m = measure(&settings, operations[k].body, &b);
            struct measured w = measure(&settings, body_work, &b);
            m.median_s -= w.best_s;
            m.best_s -= w.best_s;
            m.worst_s -= w.best_s;
            if (rank == 0)
                record_print(operations[k].figure, ranks, settings.sizes[i], m, 1e6, "us");
        }
        MPI_Type_free(&b.column);
        free(b.field);
    }
    MPI_Finalize();
    return 0;
}
