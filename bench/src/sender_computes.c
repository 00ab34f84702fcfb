/*
 * How long a message takes whose sender computes at once, while its receiver waits: nobody helps the message along.
 *
 * Rank 0 sends and then computes for the time of --budget-ms without a call of MPI. The figure is the time on the clock that both
 * ranks share, from before the send to when rank 1 has the message. bench/octave/sender_computes.m does the same.
 */
#include "measure.h"

enum { REPETITIONS = 5 };

static void compute(double seconds)
{
    volatile double x = 0.5;
    double end = record_now() + seconds;
    while (record_now() < end)
        for (int i = 0; i < 100; i++)
            x = 3.7 * x * (1 - x);
}

/* Seconds of one message; only rank 0 learns them. The send is not blocking, as it is in the other front ends. */
static double one_message(void *buffer, int bytes, int rank, double budget_s)
{
    double start, arrival;
    MPI_Request request;

    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 1) {
        MPI_Recv(buffer, bytes, MPI_BYTE, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        arrival = record_now();
        MPI_Send(&arrival, 1, MPI_DOUBLE, 0, 2, MPI_COMM_WORLD);
        return 0.0;
    }
    start = record_now();
    MPI_Isend(buffer, bytes, MPI_BYTE, 1, 1, MPI_COMM_WORLD, &request);
    compute(budget_s);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Recv(&arrival, 1, MPI_DOUBLE, 1, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    return arrival - start;
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
    if (ranks != 2)
        measure_fail("sender_computes needs 2 ranks", "start it with -n 2");
    void *buffer = measure_buffer(measure_largest(&settings));
    for (int i = 0; i < settings.size_count; i++) {
        for (int j = 0; j < REPETITIONS; j++)
            times_s[j] = one_message(buffer, (int)settings.sizes[i], rank, settings.budget_s);
        if (rank == 0) {
            struct measured m = record_median(times_s, REPETITIONS, REPETITIONS);
            record_print("sender-computes", ranks, settings.sizes[i], m, 1e6, "us");
        }
    }
    MPI_Finalize();
    return 0;
}
