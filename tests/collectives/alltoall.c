/* Alltoall, alltoallv and alltoallw (MPI 5.0, section 6.8): sizes, in place, zero counts, a transpose by types. */
#include "../check.h"

static int value_of(int from, int to, int i)
{
    return (from * 64 + to) * 50000 + i;
}

static void equal_blocks(int count)
{
    int total = size * count, *out = allocate((size_t)total * sizeof *out), *in = calloc((size_t)total + 1, sizeof *in);
    int wrong = 0;
    for (int i = 0; i < total; i++) {
        out[i] = value_of(rank, i / count, i % count);
    }
    OK(MPI_Alltoall(out, count, MPI_INT, in, count, MPI_INT, MPI_COMM_WORLD));
    for (int i = 0; i < total; i++) {
        wrong += in[i] != value_of(i / count, rank, i % count);
    }
    OK(MPI_Alltoall(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, out, count, MPI_INT, MPI_COMM_WORLD));
    for (int i = 0; i < total; i++) {
        wrong += out[i] != value_of(i / count, rank, i % count);
    }
    CHECK_EQ(wrong, 0);
    free(out);
    free(in);
}

/* How many elements go from one rank to another; symmetric, so that the same counts serve in place. */
static int count_of(int from, int to, int unit)
{
    return (from + to) % 3 * unit + (from == to);
}

struct plan {
    Count *counts;
    Displacement *places;
    MPI_Datatype *types;
    int total;
};

static struct plan make_plan(int unit, int bytes)
{
    struct plan plan = {allocate((size_t)size * sizeof(Count)), allocate((size_t)size * sizeof(Displacement)),
                        allocate((size_t)size * sizeof(MPI_Datatype)), 0};
    for (int peer = size - 1; peer >= 0; peer--) {
        plan.counts[peer] = count_of(rank, peer, unit);
        plan.places[peer] = (plan.total + 1) * bytes;
        plan.types[peer] = MPI_INT;
        plan.total += (int)plan.counts[peer] + 1;
    }
    return plan;
}

static void check_blocks(const int *in, const struct plan *plan, int bytes)
{
    int wrong = 0;
    for (int from = 0; from < size; from++) {
        const int *block = in + plan->places[from] / bytes;
        wrong += block[-1] != -1;
        for (int i = 0; i < plan->counts[from]; i++) {
            wrong += block[i] != value_of(from, rank, i);
        }
    }
    CHECK_EQ(wrong, 0);
}

/* With w the displacements count bytes, with v elements; everything else is the same. */
static void varying(int unit, int w)
{
    int bytes = w ? (int)sizeof(int) : 1;
    struct plan plan = make_plan(unit, bytes);
    int *out = allocate((size_t)plan.total * sizeof *out), *in = allocate((size_t)plan.total * sizeof *in);
    memset(out, 0xff, (size_t)plan.total * sizeof *out);
    memset(in, 0xff, (size_t)plan.total * sizeof *in);
    for (int to = 0; to < size; to++) {
        for (int i = 0; i < plan.counts[to]; i++) {
            out[plan.places[to] / bytes + i] = value_of(rank, to, i);
        }
    }
    if (w) {
        OK(MPI_Alltoallw(out, plan.counts, plan.places, plan.types, in, plan.counts, plan.places, plan.types,
                         MPI_COMM_WORLD));
        OK(MPI_Alltoallw(MPI_IN_PLACE, NULL, NULL, NULL, out, plan.counts, plan.places, plan.types, MPI_COMM_WORLD));
    } else {
        OK(MPI_Alltoallv(out, plan.counts, plan.places, MPI_INT, in, plan.counts, plan.places, MPI_INT,
                         MPI_COMM_WORLD));
        OK(MPI_Alltoallv(MPI_IN_PLACE, NULL, NULL, MPI_DATATYPE_NULL, out, plan.counts, plan.places, MPI_INT,
                         MPI_COMM_WORLD));
    }
    check_blocks(in, &plan, bytes);
    check_blocks(out, &plan, bytes);
    free(plan.counts);
    free(plan.places);
    free(plan.types);
    free(out);
    free(in);
}

/* A matrix distributed by rows is transposed: blocks of columns go out as vectors and come in as rows. */
static void transpose(int unit)
{
    int n = unit * size, wrong = 0;
    double *rows = allocate((size_t)(unit * n) * sizeof *rows), *out = allocate((size_t)(unit * n) * sizeof *out);
    MPI_Datatype column, resized, block, row_block;
    Count *counts = allocate((size_t)size * sizeof *counts);
    Displacement *from = allocate((size_t)size * sizeof *from), *into = allocate((size_t)size * sizeof *into);
    MPI_Datatype *out_types = allocate((size_t)size * sizeof *out_types), *in_types;
    in_types = allocate((size_t)size * sizeof *in_types);
    for (int i = 0; i < unit * n; i++) {
        rows[i] = (double)(rank * unit + i / n) * n + i % n;
    }
    OK(MPI_Type_vector(unit, 1, n, MPI_DOUBLE, &column));
    OK(MPI_Type_create_resized(column, 0, sizeof(double), &resized));
    OK(MPI_Type_contiguous(unit, resized, &block));
    OK(MPI_Type_commit(&block));
    OK(MPI_Type_vector(unit, unit, n, MPI_DOUBLE, &row_block));
    OK(MPI_Type_commit(&row_block));
    for (int peer = 0; peer < size; peer++) {
        counts[peer] = 1;
        from[peer] = into[peer] = peer * unit * (int)sizeof(double);
        out_types[peer] = block;
        in_types[peer] = row_block;
    }
    OK(MPI_Alltoallw(rows, counts, from, out_types, out, counts, into, in_types, MPI_COMM_WORLD));
    for (int i = 0; i < unit * n; i++) {
        wrong += out[i] != (double)(i % n) * n + rank * unit + i / n;
    }
    CHECK_EQ(wrong, 0);
    OK(MPI_Type_free(&column));
    OK(MPI_Type_free(&resized));
    OK(MPI_Type_free(&block));
    OK(MPI_Type_free(&row_block));
    free(rows);
    free(out);
    free(counts);
    free(from);
    free(into);
    free(out_types);
    free(in_types);
}

int main(int argc, char **argv)
{
    static const int counts[] = {0, 1, 50, 3000, 40000};
    check_begin(&argc, &argv);
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
        equal_blocks(counts[i]);
    }
    for (int w = 0; w < 2; w++) {
        varying(0, w);
        varying(1, w);
        varying(10000, w);
    }
    transpose(1);
    transpose(20);
    return check_end();
}
