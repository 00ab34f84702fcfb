/*
 * Memory of a rank: resident (Rss) and proportional (Pss: shared pages divided among their users), read from
 * /proc/self/smaps_rollup, once after MPI_Init and once after every rank has exchanged 8 bytes with every other, which is
 * when an engine has built its connections. The mean over the ranks is printed in MiB.
 */
#define _POSIX_C_SOURCE 200809L
#include "measure.h"

#include <stdio.h>
#include <stdlib.h>

struct memory {
    double resident_kib, proportional_kib;
};

static struct memory memory_now(void)
{
    struct memory m = {0.0, 0.0};
    char line[256];
    double value;
    FILE *file = fopen("/proc/self/smaps_rollup", "r");
    if (file == NULL)
        measure_fail("cannot open", "/proc/self/smaps_rollup (Linux 4.14 or newer has it)");
    while (fgets(line, sizeof line, file) != NULL) {
        if (sscanf(line, "Rss: %lf", &value) == 1)
            m.resident_kib = value;
        if (sscanf(line, "Pss: %lf", &value) == 1)
            m.proportional_kib = value;
    }
    fclose(file);
    return m;
}

static void print_mean(const char *figure, double mine_kib)
{
    double sum_kib = 0.0;
    int rank, ranks;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    MPI_Reduce(&mine_kib, &sum_kib, 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
    if (rank == 0)
        printf("{\"figure\":\"%s\",\"ranks\":%d,\"bytes\":0,\"value\":%.6g,\"unit\":\"MiB\"}\n", figure, ranks,
               sum_kib / ranks / 1024.0);
    fflush(stdout);
}

int main(int argc, char **argv)
{
    struct memory after_init, connected;
    int ranks;

    MPI_Init(&argc, &argv);
    MPI_Barrier(MPI_COMM_WORLD);
    after_init = memory_now();
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    char *out = calloc((size_t)ranks, 8), *in = calloc((size_t)ranks, 8);
    if (out == NULL || in == NULL)
        measure_fail("no memory for", "two buffers of 8 bytes a rank");
    MPI_Alltoall(out, 8, MPI_BYTE, in, 8, MPI_BYTE, MPI_COMM_WORLD);
    connected = memory_now();
    /* Nobody leaves before all have read: the pages of a rank that is gone count fully for those who share them. */
    MPI_Barrier(MPI_COMM_WORLD);
    print_mean("memory-init-rss", after_init.resident_kib);
    print_mean("memory-init-pss", after_init.proportional_kib);
    print_mean("memory-connected-rss", connected.resident_kib);
    print_mean("memory-connected-pss", connected.proportional_kib);
    free(out);
    free(in);
    MPI_Finalize();
    return 0;
}
