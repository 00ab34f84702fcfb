/*
 * Time of one broadcast from rank 0: from the moment the root enters MPI_Bcast until the last rank has left it.
 *
 * All ranks share one machine, so that the monotonic clock is the same for all of them, and the moments can be compared.
 * A barrier before each call sees to it that everybody is there; it is not part of the time, nor is the reduction that
 * finds the last moment. --iterations-max is the number of broadcasts of each size, since a call on two thousand processes
 * takes anything from milliseconds to minutes.
 */
#include "measure.h"

enum { ITERATIONS_MAX = 1000 };

static double once(void *buffer, int bytes)
{
    double start_s, end_s, last_s;
    MPI_Barrier(MPI_COMM_WORLD);
    start_s = record_now();
    MPI_Bcast(buffer, bytes, MPI_BYTE, 0, MPI_COMM_WORLD);
    end_s = record_now();
    MPI_Reduce(&end_s, &last_s, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
    return last_s - start_s;
}

int main(int argc, char **argv)
{
    struct settings settings;
    double times_s[ITERATIONS_MAX];
    int rank, ranks;

    MPI_Init(&argc, &argv);
    measure_arguments(&settings, argc, argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    if (settings.iterations_max > ITERATIONS_MAX)
        settings.iterations_max = ITERATIONS_MAX;
    void *buffer = measure_buffer(measure_largest(&settings));
    for (int i = 0; i < settings.size_count; i++) {
        /* The first call opens what connections there are to open. Where there is time for one call, there are none. */
        if (settings.iterations_max > 1)
            once(buffer, (int)settings.sizes[i]);
        for (int k = 0; k < settings.iterations_max; k++)
            times_s[k] = once(buffer, (int)settings.sizes[i]);
        if (rank == 0)
            record_print("broadcast", ranks, settings.sizes[i],
                         record_median(times_s, settings.iterations_max, settings.iterations_max), 1e6, "us");
    }
    MPI_Finalize();
    return 0;
}
