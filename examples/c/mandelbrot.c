/* mandelbrot.c: the Mandelbrot set, columns farmed out in blocks.
 *
 *   postrider cc -O2 -ffp-contract=off examples/c/mandelbrot.c -o mandelbrot
 *   postrider run -n 4 ./mandelbrot [options]
 *     --size N         points on a side (4800)
 *     --iterations N   iteration limit (64, at most 255)
 *     --output FILE    rank 0 writes the counts there: N*N bytes, column by column
 *
 * The benchmark of section 4.5 of "MPI over Scripting Languages: Usability and
 * Performance Tradeoffs".  The region is [-2, 0.5] x [-1.25, 1.25].  A count is the
 * number of iterations before |z| exceeds 2, or the limit.  Rank r computes the
 * blocks r, r+ranks, ... and sends each to rank 0 as soon as it is done, so that
 * nobody waits before the end.  The Python and Octave versions use the same
 * operations in the same order and give the same counts bit by bit; contracting a
 * product and a sum into one operation would change them, hence the compiler flag.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { BLOCK_COLUMNS = 48 };

struct options {
    int size;
    int iterations;
    const char *output;
};

static struct options parse_options(int argc, char **argv)
{
    struct options options = {4800, 64, NULL};
    int i;
    for (i = 1; i + 1 < argc; i += 2) {
        if (strcmp(argv[i], "--size") == 0)
            options.size = atoi(argv[i + 1]);
        else if (strcmp(argv[i], "--iterations") == 0)
            options.iterations = atoi(argv[i + 1]);
        else if (strcmp(argv[i], "--output") == 0)
            options.output = argv[i + 1];
        else
            break;
    }
    if (i < argc || options.size < 1 || options.iterations < 1 || options.iterations > 255) {
        fprintf(stderr, "usage: %s [--size N] [--iterations 1...255] [--output FILE]\n", argv[0]);
        MPI_Abort(MPI_COMM_WORLD, 2);
    }
    return options;
}

static unsigned char count_point(double cr, double ci, int limit)
{
    double zr = 0, zi = 0;
    int n;
    for (n = 0; n < limit; n++) {
        double zr2 = zr * zr, zi2 = zi * zi;
        if (zr2 + zi2 > 4)
            break;
        zi = 2 * zr * zi + ci;
        zr = zr2 - zi2 + cr;
    }
    return (unsigned char)n;
}

static void count_columns(unsigned char *counts, int first, int last, const struct options *options)
{
    double step = 2.5 / options->size;
    int column, row;
    for (column = first; column < last; column++) {
        double cr = -2.0 + (column + 0.5) * step;
        for (row = 0; row < options->size; row++)
            *counts++ = count_point(cr, -1.25 + (row + 0.5) * step, options->iterations);
    }
}

static void *allocate(size_t bytes)
{
    void *memory = malloc(bytes ? bytes : 1);
    if (!memory) {
        fprintf(stderr, "mandelbrot: no memory for %lu bytes\n", (unsigned long)bytes);
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    return memory;
}

static int block_end(int block, int size)
{
    return (block + 1) * BLOCK_COLUMNS < size ? (block + 1) * BLOCK_COLUMNS : size;
}

/* The sum of all counts, each weighted with its place modulo 65521, plus one. */
static unsigned long long checksum(const unsigned char *picture, size_t count)
{
    unsigned long long total = 0;
    size_t k;
    for (k = 0; k < count; k++)
        total += (k % 65521 + 1) * (unsigned long long)picture[k];
    return total;
}

static void write_picture(const char *path, const unsigned char *picture, size_t count)
{
    FILE *file = fopen(path, "wb");
    if (!file || fwrite(picture, 1, count, file) != count || fclose(file) != 0) {
        fprintf(stderr, "mandelbrot: cannot write %s\n", path);
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
}

/* Computes the blocks of this rank and receives those of the others. */
static void run_first(int ranks, const struct options *options)
{
    size_t size = (size_t)options->size;
    int blocks = (options->size + BLOCK_COLUMNS - 1) / BLOCK_COLUMNS, block;
    int shows_progress = isatty(2);
    double started = MPI_Wtime(), seconds;
    unsigned char *picture = allocate(size * size);
    for (block = 0; block < blocks; block += ranks) {
        int end = block_end(block, options->size);
        count_columns(picture + (size_t)block * BLOCK_COLUMNS * size, block * BLOCK_COLUMNS, end,
                      options);
        if (shows_progress)
            fprintf(stderr, "\rmandelbrot: %3d %%", (int)(100.0 * end / options->size + 0.5));
    }
    for (block = 0; block < blocks; block++) {
        int columns = block_end(block, options->size) - block * BLOCK_COLUMNS;
        if (block % ranks != 0)
            MPI_Recv(picture + (size_t)block * BLOCK_COLUMNS * size, columns * options->size,
                     MPI_BYTE, block % ranks, block, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    seconds = MPI_Wtime() - started;
    if (shows_progress)
        fprintf(stderr, "\n");
    if (options->output)
        write_picture(options->output, picture, size * size);
    printf("{\"ranks\": %d, \"seconds\": %.6f, \"checksum\": %llu, \"size\": %d, "
           "\"iterations\": %d}\n",
           ranks, seconds, checksum(picture, size * size), options->size, options->iterations);
    free(picture);
}

/* Computes the blocks of this rank and sends each to rank 0. */
static void run_other(int rank, int ranks, const struct options *options)
{
    int blocks = (options->size + BLOCK_COLUMNS - 1) / BLOCK_COLUMNS, block, sent = 0;
    size_t block_bytes = (size_t)BLOCK_COLUMNS * (size_t)options->size;
    size_t mine = (size_t)(blocks / ranks + 1);
    unsigned char *counts = allocate(mine * block_bytes);
    MPI_Request *requests = allocate(mine * sizeof *requests);
    for (block = rank; block < blocks; block += ranks, sent++) {
        int first = block * BLOCK_COLUMNS, end = block_end(block, options->size);
        unsigned char *to = counts + (size_t)sent * block_bytes;
        count_columns(to, first, end, options);
        MPI_Isend(to, (end - first) * options->size, MPI_BYTE, 0, block, MPI_COMM_WORLD,
                  &requests[sent]);
    }
    MPI_Waitall(sent, requests, MPI_STATUSES_IGNORE);
    free(requests);
    free(counts);
}

int main(int argc, char **argv)
{
    int rank, ranks;
    struct options options;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    options = parse_options(argc, argv);
    if (rank == 0)
        run_first(ranks, &options);
    else
        run_other(rank, ranks, &options);
    MPI_Finalize();
    return 0;
}
