/*
 * The solver of the paper: the equation of Laplace on a rectangle by successive over-relaxation, with a row and a column of the neighbours
 * around each rank's part, as rank 0 reads it, as it is computed in iterations, and as it is written after some of them.
 *
 * The points are red and black in turn, as on a chessboard: those of one colour need the other's alone, so that every version, on every number
 * of ranks, has the same numbers to the last bit. The checksum says so, and the file sor.out, in which each output stands behind the one before.
 * An iteration has two halves, and an exchange of borders before each.
 *
 * Options beside those of measure.h, of which --sizes are the sides of a rank's part, or with --side whole those of the whole square:
 * --exchange sendrecv|persistent|file, --io root|collective|rows|ring, --iterations N, --every N (iterations from one output to the next), and
 * --label NAME, with which the names of the figures begin. Figures: -exchange with the first touch, -read, -read-compute until the first
 * iteration is over, -write as long as the calls take, -written until all ranks have written, and -total.
 */
#include "sor.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define OMEGA 1.5

enum { WORDS_MAX = 64, OUTPUTS_MAX = 1000 };

struct plan {
    enum exchange exchange;
    enum io io;
    int iterations, every, is_whole;
    const char *label;
};

/* Times of one run, in the order in which they were taken. */
struct times {
    double *exchange_s;
    double write_s[OUTPUTS_MAX], written_s[OUTPUTS_MAX], read_s, read_compute_s, total_s;
    int exchanges, outputs;
};

static volatile double touched;

static int chosen(const char *word, const char *const *names, int count)
{
    for (int i = 0; i < count; i++)
        if (strcmp(word, names[i]) == 0)
            return i;
    measure_fail("this is no way to do it", word);
    return 0;
}

/* Takes an argument if it is one of the solver's own. */
static int take_argument(struct plan *plan, const char *name, const char *value)
{
    static const char *const exchanges[] = {"sendrecv", "persistent", "file"};
    static const char *const ios[] = {"root", "collective", "rows", "ring"};
    static const char *const sides[] = {"local", "whole"};
    if (strcmp(name, "--exchange") == 0)
        plan->exchange = (enum exchange)chosen(value, exchanges, 3);
    else if (strcmp(name, "--io") == 0)
        plan->io = (enum io)chosen(value, ios, 4);
    else if (strcmp(name, "--side") == 0)
        plan->is_whole = chosen(value, sides, 2);
    else if (strcmp(name, "--iterations") == 0)
        plan->iterations = atoi(value);
    else if (strcmp(name, "--every") == 0)
        plan->every = atoi(value);
    else if (strcmp(name, "--label") == 0)
        plan->label = value;
    else
        return 0;
    return 1;
}

static void take_arguments(struct plan *plan, struct settings *settings, int argc, char **argv)
{
    char *rest[WORDS_MAX] = {argv[0]};
    int count = 1;
    *plan = (struct plan){.iterations = 10, .every = 10, .label = "sor"};
    for (int i = 1; i < argc && count < WORDS_MAX - 1; i += 2) {
        if (i + 1 < argc && take_argument(plan, argv[i], argv[i + 1]))
            continue;
        rest[count++] = argv[i];
        if (i + 1 < argc)
            rest[count++] = argv[i + 1];
    }
    measure_arguments(settings, count, rest);
    if (plan->iterations < 1 || plan->every < 1 || plan->iterations / plan->every >= OUTPUTS_MAX)
        measure_fail("--iterations and --every", "must be positive, and give fewer than 1000 outputs");
}

/* Rows, then columns: as even as whole numbers allow. */
void part_of(const struct part *p, int rank, long first[2], int sides[2])
{
    long whole[2] = {p->whole_rows, p->whole_columns};
    int dims[2], periods[2], mine[2], place[2];
    MPI_Cart_get(p->grid, 2, dims, periods, mine);
    MPI_Cart_coords(p->grid, rank, 2, place);
    for (int i = 0; i < 2; i++) {
        first[i] = whole[i] * place[i] / dims[i];
        sides[i] = (int)(whole[i] * (place[i] + 1) / dims[i] - first[i]);
    }
}

static void make_part(struct part *p, const struct plan *plan, long size)
{
    int dims[2] = {0, 0}, sides[2];
    long first[2];
    MPI_Dims_create(p->ranks, 2, dims);
    MPI_Cart_create(MPI_COMM_WORLD, 2, dims, (int[2]){0, 0}, 0, &p->grid);
    MPI_Cart_shift(p->grid, 0, 1, &p->up, &p->down);
    MPI_Cart_shift(p->grid, 1, 1, &p->left, &p->right);
    p->whole_rows = plan->is_whole ? size : size * dims[0];
    p->whole_columns = plan->is_whole ? size : size * dims[1];
    part_of(p, p->rank, first, sides);
    p->first_row = first[0];
    p->first_column = first[1];
    p->rows = sides[0];
    p->columns = sides[1];
    p->field = measure_buffer((size_t)(p->rows + 2) * (size_t)(p->columns + 2) * sizeof *p->field);
    if (plan->io == IO_ROOT && p->rank == 0)
        p->whole = measure_buffer((size_t)offset(p, p->whole_rows, 0));
    MPI_Type_vector(p->rows, 1, p->columns + 2, MPI_DOUBLE, &p->column);
    MPI_Type_commit(&p->column);
}

static void drop_part(struct part *p)
{
    MPI_Type_free(&p->column);
    MPI_Comm_free(&p->grid);
    free(p->field);
    free(p->whole);
    p->whole = NULL;
}

/* The boundary, which stays as it is: warm above, and less so to the right. */
static void set_boundary(struct part *p)
{
    for (int j = 1; j <= p->columns; j++) {
        if (p->up == MPI_PROC_NULL)
            *at(p, 0, j) = 1.0 + (double)(p->first_column + j) / (double)p->whole_columns;
        if (p->down == MPI_PROC_NULL)
            *at(p, p->rows + 1, j) = -0.5;
    }
    for (int i = 1; i <= p->rows; i++) {
        if (p->left == MPI_PROC_NULL)
            *at(p, i, 0) = 0.25;
        if (p->right == MPI_PROC_NULL)
            *at(p, i, p->columns + 1) = (double)(p->first_row + i) / (double)p->whole_rows;
    }
}

/* All points of one colour. */
static void sweep(struct part *p, int colour)
{
    for (int i = 1; i <= p->rows; i++) {
        double *row = at(p, i, 0), *above = at(p, i - 1, 0), *below = at(p, i + 1, 0);
        int begin = 1 + (int)((p->first_row + i + p->first_column + colour) % 2);
        for (int j = begin; j <= p->columns; j += 2)
            row[j] += OMEGA * 0.25 * (above[j] + below[j] + row[j - 1] + row[j + 1] - 4.0 * row[j]);
    }
}

static void iterate(struct part *p, const struct plan *plan, struct times *times)
{
    for (int colour = 0; colour < 2; colour++) {
        double begun_s = record_now();
        exchange_run(p, plan->exchange);
        touched = *at(p, 0, 1) + *at(p, p->rows + 1, p->columns) + *at(p, 1, 0) + *at(p, p->rows, p->columns + 1);
        times->exchange_s[times->exchanges++] = record_now() - begun_s;
        sweep(p, colour);
    }
}

static void write_out(struct part *p, const struct plan *plan, struct times *times)
{
    double begun_s = record_now();
    files_write(p, plan->io, times->outputs);
    times->write_s[times->outputs] = record_now() - begun_s;
    MPI_Barrier(p->grid);
    times->written_s[times->outputs++] = record_now() - begun_s;
}

static void solve(struct part *p, const struct plan *plan, struct times *times)
{
    MPI_Barrier(p->grid);
    double begun_s = record_now();
    files_read(p, plan->io);
    times->read_s = record_now() - begun_s;
    for (int i = 1; i <= plan->iterations; i++) {
        iterate(p, plan, times);
        if (i == 1)
            times->read_compute_s = record_now() - begun_s;
        if (i % plan->every == 0)
            write_out(p, plan, times);
    }
    MPI_Barrier(p->grid);
    times->total_s = record_now() - begun_s;
}

/* The slowest rank's. */
static void print(const struct part *p, const struct plan *plan, const char *what, size_t size, double *times_s, int count)
{
    int is_exchange = strcmp(what, "exchange") == 0;
    char name[64];
    if (count == 0)
        return;
    struct measured m = record_median(times_s, count, count);
    double mine[3] = {m.median_s, m.best_s, m.worst_s}, slowest[3];
    MPI_Reduce(mine, slowest, 3, MPI_DOUBLE, MPI_MAX, 0, p->grid);
    m = (struct measured){slowest[0], slowest[1], slowest[2], count};
    snprintf(name, sizeof name, "%s-%s", plan->label, what);
    if (p->rank == 0)
        record_print(name, p->ranks, size, m, is_exchange ? 1e6 : 1e3, is_exchange ? "us" : "ms");
}

/* The bits of all numbers, each with its place: a sum whose order does not matter. */
static void print_checksum(const struct part *p, size_t size)
{
    uint64_t sum = 0, whole = 0;
    for (int i = 1; i <= p->rows; i++) {
        for (int j = 1; j <= p->columns; j++) {
            uint64_t bits;
            memcpy(&bits, at(p, i, j), sizeof bits);
            sum += bits * (2 * (uint64_t)offset(p, p->first_row + i - 1, p->first_column + j - 1) + 1);
        }
    }
    MPI_Reduce(&sum, &whole, 1, MPI_UINT64_T, MPI_SUM, 0, p->grid);
    if (p->rank == 0)
        printf("{\"checksum\":\"%016llx\",\"bytes\":%zu}\n", (unsigned long long)whole, size);
}

static void run(struct part *p, const struct plan *plan, size_t size)
{
    struct times *times = calloc(1, sizeof *times);
    make_part(p, plan, (long)size);
    if (times == NULL || (times->exchange_s = calloc((size_t)plan->iterations, 2 * sizeof(double))) == NULL)
        measure_fail("no memory for times", "choose fewer --iterations");
    set_boundary(p);
    files_make(p);
    exchange_begin(p, plan->exchange);
    solve(p, plan, times);
    exchange_end(p, plan->exchange);
    print(p, plan, "exchange", size, times->exchange_s, times->exchanges);
    print(p, plan, "read", size, &times->read_s, 1);
    print(p, plan, "read-compute", size, &times->read_compute_s, 1);
    print(p, plan, "write", size, times->write_s, times->outputs);
    print(p, plan, "written", size, times->written_s, times->outputs);
    print(p, plan, "total", size, &times->total_s, 1);
    print_checksum(p, size);
    drop_part(p);
    free(times->exchange_s);
    free(times);
}

int main(int argc, char **argv)
{
    struct settings settings;
    struct plan plan;
    struct part part = {0};

    MPI_Init(&argc, &argv);
    take_arguments(&plan, &settings, argc, argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &part.rank);
    MPI_Comm_size(MPI_COMM_WORLD, &part.ranks);
    part.directory = settings.directory;
    for (int i = 0; i < settings.size_count; i++)
        run(&part, &plan, settings.sizes[i]);
    MPI_Finalize();
    return 0;
}
