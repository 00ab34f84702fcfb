/*
 * Aggregation: an array that is distributed in equal blocks over all ranks is gathered on rank 0 by MPI_Gather.
 *
 * --sizes are those of the whole array. The time is that of the root, from the moment all ranks are there, by a barrier, until
 * it has the array; --iterations-max is the number of calls. Figures: aggregation, and aggregation-bandwidth, which is
 * the array by the same time. Where the ranks do not divide the size, the array is so much shorter.
 */
#include "measure.h"

#include <stdlib.h>

enum { ITERATIONS_MAX = 1000 };

static double once(const char *block, int bytes, char *array)
{
    double start_s;
    MPI_Barrier(MPI_COMM_WORLD);
    start_s = record_now();
    MPI_Gather(block, bytes, MPI_BYTE, array, bytes, MPI_BYTE, 0, MPI_COMM_WORLD);
    return record_now() - start_s;
}

static void gather_array(const struct settings *settings, size_t bytes, int rank, int ranks)
{
    double times_s[ITERATIONS_MAX];
    size_t block_bytes = bytes / (size_t)ranks;
    char *block = measure_buffer(block_bytes);
    char *array = rank == 0 ? measure_buffer(block_bytes * (size_t)ranks) : NULL;

    /* The first call opens what connections there are to open. Where there is time for one call, there are none. */
    if (settings->iterations_max > 1)
        once(block, (int)block_bytes, array);
    for (int k = 0; k < settings->iterations_max; k++)
        times_s[k] = once(block, (int)block_bytes, array);
    if (rank == 0) {
        struct measured m = record_median(times_s, settings->iterations_max, settings->iterations_max);
        record_print("aggregation", ranks, bytes, m, 1e3, "ms");
        record_print_rate("aggregation-bandwidth", ranks, bytes, m, 1e-6 * (double)bytes, "MB/s");
    }
    free(block);
    free(array);
}

int main(int argc, char **argv)
{
    struct settings settings;
    int rank, ranks;

    MPI_Init(&argc, &argv);
    measure_arguments(&settings, argc, argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    if (settings.iterations_max > ITERATIONS_MAX)
        settings.iterations_max = ITERATIONS_MAX;
    for (int i = 0; i < settings.size_count; i++)
        gather_array(&settings, settings.sizes[i], rank, ranks);
    MPI_Finalize();
    return 0;
}
