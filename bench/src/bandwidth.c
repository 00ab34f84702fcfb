/*
 * Bandwidth in one direction, in both directions at once, and message rate, between two ranks.
 *
 * The sender has a window of messages under way, the receiver has as many receives posted, and an empty message closes
 * the window. --operation is one-way, both-ways or rate (messages per second, 64 in a window). All messages of a window
 * leave from one buffer, which the standard allows; each arrives in a place of its own, which it requires. The window
 * shrinks with the size, so that the places of arrival take 16 MiB, or one message where that is larger; --window N makes it
 * smaller for ways on which a message takes a second.
 */
#include "measure.h"

#include <string.h>

enum { WINDOW_MAX = 64, WINDOW_BYTES = 16 << 20 };

struct window {
    int rank, both_ways, messages;
    size_t bytes;
    char *out, *in;
};

static void post(MPI_Request *requests, struct window *w, int sending)
{
    for (int k = 0; k < w->messages; k++) {
        if (sending)
            MPI_Isend(w->out, (int)w->bytes, MPI_BYTE, 1 - w->rank, 1, MPI_COMM_WORLD, &requests[k]);
        else
            MPI_Irecv(w->in + (size_t)k * w->bytes, (int)w->bytes, MPI_BYTE, 1 - w->rank, 1, MPI_COMM_WORLD,
                      &requests[k]);
    }
}

static void windows(void *context, int iterations)
{
    struct window *w = context;
    MPI_Request requests[2 * WINDOW_MAX];
    for (int i = 0; i < iterations; i++) {
        int count = w->both_ways ? 2 * w->messages : w->messages;
        if (w->both_ways) {
            post(requests, w, 0);
            post(requests + w->messages, w, 1);
        } else {
            post(requests, w, w->rank == 0);
        }
        MPI_Waitall(count, requests, MPI_STATUSES_IGNORE);
        if (w->rank == 0)
            MPI_Recv(NULL, 0, MPI_BYTE, 1, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        else
            MPI_Send(NULL, 0, MPI_BYTE, 0, 2, MPI_COMM_WORLD);
    }
}

static int window_messages(size_t bytes, int most)
{
    size_t messages = bytes > 0 ? WINDOW_BYTES / bytes : WINDOW_MAX;
    if (most > WINDOW_MAX)
        most = WINDOW_MAX;
    if (messages > (size_t)most)
        return most;
    return messages < 1 ? 1 : (int)messages;
}

static void run(const struct settings *settings, struct window *w)
{
    for (int i = 0; i < settings->size_count; i++) {
        w->bytes = settings->sizes[i];
        w->messages = window_messages(w->bytes, settings->window);
        struct measured m = measure(settings, windows, w);
        double sent = (w->both_ways ? 2.0 : 1.0) * w->messages;
        if (w->rank != 0)
            continue;
        if (strcmp(settings->operation, "rate") == 0)
            record_print_rate("message-rate", 2, w->bytes, m, 1e-6 * sent, "million/s");
        else
            record_print_rate(w->both_ways ? "bidirectional" : "bandwidth", 2, w->bytes, m,
                              1e-6 * sent * (double)w->bytes, "MB/s");
    }
}

int main(int argc, char **argv)
{
    struct settings settings;
    struct window w;
    size_t largest;
    int ranks;

    MPI_Init(&argc, &argv);
    measure_arguments(&settings, argc, argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &w.rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    if (ranks != 2)
        measure_fail("bandwidth needs two ranks", "start it with -n 2");
    w.both_ways = strcmp(settings.operation, "both-ways") == 0;
    if (!w.both_ways && strcmp(settings.operation, "one-way") != 0 && strcmp(settings.operation, "rate") != 0)
        measure_fail("--operation is one-way, both-ways or rate, not", settings.operation);
    largest = measure_largest(&settings);
    w.out = measure_buffer(largest);
    w.in = measure_buffer(largest > WINDOW_BYTES ? largest : WINDOW_BYTES);
    run(&settings, &w);
    MPI_Finalize();
    return 0;
}
