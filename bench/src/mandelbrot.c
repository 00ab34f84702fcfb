/*
 * A Mandelbrot set in column blocks, which rank 0 collects: few messages, all of them large, at the end.
 *
 * --sizes is the number of points a side. Every point takes the same number of steps, so that equal blocks are equal work and what
 * is lost is lost to messages. bench/octave/mandelbrot.m does the same.
 */
#include "measure.h"

#include <stdlib.h>

enum { REPETITIONS = 3, STEPS = 50 };

/* How many steps each point of the columns from `first` to before `last` stays near the origin. */
static void columns(double *counts, int width, int first, int last)
{
    for (int column = first; column < last; column++) {
        double x = -2.0 + 2.5 * column / (width - 1);
        for (int row = 0; row < width; row++) {
            double y = -1.2 + 2.4 * row / (width - 1), re = x, im = y;
            int inside = 0;
            for (int step = 0; step < STEPS; step++) {
                double squared = re * re - im * im;
                im = 2 * re * im + y;
                re = squared + x;
                inside += re * re + im * im <= 4.0;
            }
            *counts++ = inside;
        }
    }
}

static int first_column(int rank, int ranks, int width)
{
    return (int)((long long)rank * width / ranks);
}

/* Every block at its place in the matrix of rank 0. */
static void collect(double *mine, double *whole, int width, int rank, int ranks)
{
    int *counts = calloc((size_t)ranks, sizeof *counts), *places = calloc((size_t)ranks, sizeof *places);
    if (counts == NULL || places == NULL)
        measure_fail("no memory for the blocks' sizes", "choose fewer ranks");
    for (int i = 0; i < ranks; i++) {
        places[i] = width * first_column(i, ranks, width);
        counts[i] = width * first_column(i + 1, ranks, width) - places[i];
    }
    MPI_Gatherv(mine, counts[rank], MPI_DOUBLE, whole, counts, places, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    free(counts);
    free(places);
}

int main(int argc, char **argv)
{
    struct settings settings;
    double times_s[REPETITIONS];
    int rank, ranks;

    MPI_Init(&argc, &argv);
    measure_arguments(&settings, argc, argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    int width = (int)settings.sizes[0];
    size_t bytes = sizeof(double) * (size_t)width * (size_t)width;
    double *mine = measure_buffer(bytes), *whole = measure_buffer(rank == 0 ? bytes : 0);
    for (int i = 0; i < REPETITIONS; i++) {
        MPI_Barrier(MPI_COMM_WORLD);
        double start = record_now();
        columns(mine, width, first_column(rank, ranks, width), first_column(rank + 1, ranks, width));
        collect(mine, whole, width, rank, ranks);
        times_s[i] = record_now() - start;
    }
    if (rank == 0)
        record_print("mandelbrot", ranks, bytes, record_median(times_s, REPETITIONS, REPETITIONS), 1e3, "ms");
    MPI_Finalize();
    return 0;
}
