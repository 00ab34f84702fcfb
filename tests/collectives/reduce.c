/* Reduce, allreduce, reduce_scatter, reduce_scatter_block, scan and exscan (MPI 5.0, sections 6.9 to 6.12): sums that
 * can be worked out by hand, all roots, in place, zero counts, and an operation that does not commute. */
#include "../check.h"

/* Element i of rank r. */
static long value_of(int r, int i)
{
    return (long)(r + 1) * 1000 + i % 501;
}

/* The sum over ranks [0, ranks). */
static long sum_of(int ranks, int i)
{
    return 1000L * ranks * (ranks + 1) / 2 + (long)ranks * (i % 501);
}

static long *mine(int count)
{
    long *data = allocate((size_t)count * sizeof *data);
    for (int i = 0; i < count; i++) {
        data[i] = value_of(rank, i);
    }
    return data;
}

static void check_sums(const long *data, int count, int ranks, int first)
{
    int wrong = 0;
    for (int i = 0; i < count; i++) {
        wrong += data[i] != sum_of(ranks, first + i);
    }
    CHECK_EQ(wrong, 0);
}

static void to_root(int count)
{
    long *out = mine(count), *in = calloc((size_t)count + 1, sizeof *in);
    /* Large vectors take one root only; the small ones have been at all. */
    for (int root = count > 2000 ? size - 1 : 0; root < size; root++) {
        memset(in, 0, (size_t)count * sizeof *in);
        OK(MPI_Reduce(out, rank == root ? in : NULL, count, MPI_LONG, MPI_SUM, root, MPI_COMM_WORLD));
        if (rank == root) {
            check_sums(in, count, size, 0);
            memcpy(in, out, (size_t)count * sizeof *in);
        }
        OK(MPI_Reduce(rank == root ? MPI_IN_PLACE : out, in, count, MPI_LONG, MPI_SUM, root, MPI_COMM_WORLD));
        if (rank == root) {
            check_sums(in, count, size, 0);
        }
    }
    free(out);
    free(in);
}

static void to_all(int count)
{
    long *out = mine(count), *in = calloc((size_t)count + 1, sizeof *in);
    OK(MPI_Allreduce(out, in, count, MPI_LONG, MPI_SUM, MPI_COMM_WORLD));
    check_sums(in, count, size, 0);
    OK(MPI_Allreduce(MPI_IN_PLACE, out, count, MPI_LONG, MPI_SUM, MPI_COMM_WORLD));
    check_sums(out, count, size, 0);
    free(out);
    free(in);
}

static void prefixes(int count)
{
    long *out = mine(count), *in = calloc((size_t)count + 1, sizeof *in);
    OK(MPI_Scan(out, in, count, MPI_LONG, MPI_SUM, MPI_COMM_WORLD));
    check_sums(in, count, rank + 1, 0);
    memcpy(in, out, (size_t)count * sizeof *in);
    OK(MPI_Scan(MPI_IN_PLACE, in, count, MPI_LONG, MPI_SUM, MPI_COMM_WORLD));
    check_sums(in, count, rank + 1, 0);
    OK(MPI_Exscan(out, in, count, MPI_LONG, MPI_SUM, MPI_COMM_WORLD));
    if (rank > 0) {
        check_sums(in, count, rank, 0);
    }
    memcpy(in, out, (size_t)count * sizeof *in);
    OK(MPI_Exscan(MPI_IN_PLACE, in, count, MPI_LONG, MPI_SUM, MPI_COMM_WORLD));
    if (rank > 0) {
        check_sums(in, count, rank, 0);
    }
    free(out);
    free(in);
}

static void scattered(int unit)
{
    int total = 0, first = 0;
    Count *counts = allocate((size_t)size * sizeof *counts);
    long *out, *in;
    for (int r = 0; r < size; r++) {
        counts[r] = (r % 3) * unit;
        first += r < rank ? (int)counts[r] : 0;
        total += (int)counts[r];
    }
    out = mine(total);
    in = calloc((size_t)(total + 1), sizeof *in);
    OK(MPI_Reduce_scatter(out, in, counts, MPI_LONG, MPI_SUM, MPI_COMM_WORLD));
    check_sums(in, (int)counts[rank], size, first);
    OK(MPI_Reduce_scatter(MPI_IN_PLACE, out, counts, MPI_LONG, MPI_SUM, MPI_COMM_WORLD));
    check_sums(out, (int)counts[rank], size, first);
    free(out);
    free(in);
    free(counts);

    out = mine(unit * size);
    in = calloc((size_t)unit * (size_t)size + 1, sizeof *in);
    OK(MPI_Reduce_scatter_block(out, in, unit, MPI_LONG, MPI_SUM, MPI_COMM_WORLD));
    check_sums(in, unit, size, rank * unit);
    OK(MPI_Reduce_scatter_block(MPI_IN_PLACE, out, unit, MPI_LONG, MPI_SUM, MPI_COMM_WORLD));
    check_sums(out, unit, size, rank * unit);
    free(out);
    free(in);
}

int main(int argc, char **argv)
{
    static const int counts[] = {0, 1, 5, 257, 2000, 100000};
    check_begin(&argc, &argv);
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
        to_root(counts[i]);
        to_all(counts[i]);
        prefixes(counts[i]);
    }
    scattered(0);
    scattered(1);
    scattered(100);
    scattered(20000);
    return check_end();
}
