/*
 * The floor of messages between hosts: one remote shell that stays, and the two ends of its pipe.
 *
 * Usage: floor_pipe BUDGET_MS BYTES… -- REMOTE_SHELL… ; the words after -- start this program with the single argument
 * --far on the other host. floor-pipe is half the time in which a message goes there and comes back; floor-pipe-bandwidth
 * is the speed of a window of messages that ends with one byte from the far side, with windows as in bandwidth.c.
 */
#define _POSIX_C_SOURCE 200809L
#include "record.h"

#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { WINDOW_MAX = 64, WINDOW_BYTES = 16 << 20, PIECE = 64 << 10 };

/* What the far side is to do next: take so many bytes, and send as many back, or only one. */
struct order {
    uint64_t bytes;
    uint64_t comes_back;
};

struct pipe {
    int to, from;
    char *buffer;
    size_t bytes;
    int messages;
};

static void fail(const char *what)
{
    fprintf(stderr, "bench: the pipe to the other host: ");
    perror(what);
    exit(1);
}

static void put(int fd, const char *data, size_t bytes)
{
    while (bytes > 0) {
        ssize_t n = write(fd, data, bytes);
        if (n <= 0)
            fail("write");
        data += n;
        bytes -= (size_t)n;
    }
}

/* Returns 0 at the end of the stream before the first byte. */
static int get(int fd, char *data, size_t bytes)
{
    size_t done = 0;
    while (done < bytes) {
        ssize_t n = read(fd, data + done, bytes - done);
        if (n == 0 && done == 0)
            return 0;
        if (n <= 0)
            fail("read");
        done += (size_t)n;
    }
    return 1;
}

static char *allocate(size_t bytes)
{
    char *buffer = malloc(bytes > 0 ? bytes : 1);
    if (buffer == NULL)
        fail("no memory for a message");
    memset(buffer, 0, bytes);
    return buffer;
}

static int far_side(void)
{
    struct order order;
    char *buffer = NULL;
    size_t room = 0;
    while (get(STDIN_FILENO, (char *)&order, sizeof order)) {
        size_t wanted = order.comes_back ? order.bytes : PIECE;
        if (wanted > room) {
            free(buffer);
            buffer = allocate(wanted);
            room = wanted;
        }
        for (size_t left = order.bytes; left > 0;) {
            size_t piece = left < wanted ? left : wanted;
            get(STDIN_FILENO, buffer, piece);
            left -= piece;
        }
        put(STDOUT_FILENO, buffer, order.comes_back ? order.bytes : 1);
    }
    return 0;
}

/* The order goes with the message, in one write where the message is small, as an envelope would. */
static void request(struct pipe *p, uint64_t bytes, int comes_back)
{
    struct order order = {bytes, (uint64_t)comes_back};
    memcpy(p->buffer, &order, sizeof order);
}

static double round_trips(void *context, int iterations)
{
    struct pipe *p = context;
    double start_s = record_now();
    for (int i = 0; i < iterations; i++) {
        request(p, p->bytes, 1);
        put(p->to, p->buffer, sizeof(struct order) + p->bytes);
        if (!get(p->from, p->buffer, p->bytes))
            fail("it has ended");
    }
    return record_now() - start_s;
}

static double windows(void *context, int iterations)
{
    struct pipe *p = context;
    double start_s = record_now();
    for (int i = 0; i < iterations; i++) {
        request(p, p->bytes * (uint64_t)p->messages, 0);
        put(p->to, p->buffer, sizeof(struct order) + p->bytes);
        for (int k = 1; k < p->messages; k++)
            put(p->to, p->buffer, p->bytes);
        if (!get(p->from, p->buffer, 1))
            fail("it has ended");
    }
    return record_now() - start_s;
}

static pid_t start(char **words, struct pipe *p)
{
    int there[2], back[2];
    if (pipe(there) != 0 || pipe(back) != 0)
        fail("pipe");
    pid_t child = fork();
    if (child < 0)
        fail("fork");
    if (child == 0) {
        dup2(there[0], STDIN_FILENO);
        dup2(back[1], STDOUT_FILENO);
        close(there[0]);
        close(there[1]);
        close(back[0]);
        close(back[1]);
        execvp(words[0], words);
        perror(words[0]);
        _exit(127);
    }
    close(there[0]);
    close(back[1]);
    p->to = there[1];
    p->from = back[0];
    return child;
}

static void measure_size(struct pipe *p, size_t bytes, double budget_s)
{
    p->bytes = bytes;
    p->messages = bytes > 0 && WINDOW_BYTES / bytes < WINDOW_MAX ? (int)(WINDOW_BYTES / bytes) : WINDOW_MAX;
    if (p->messages < 1)
        p->messages = 1;
    p->buffer = allocate(sizeof(struct order) + bytes);
    struct measured m = record_adaptive(round_trips, p, budget_s, 1 << 20);
    record_print("floor-pipe", 2, bytes, m, 0.5e6, "us");
    m = record_adaptive(windows, p, budget_s, 1 << 20);
    record_print_rate("floor-pipe-bandwidth", 2, bytes, m, 1e-6 * p->messages * (double)bytes, "MB/s");
    free(p->buffer);
}

int main(int argc, char **argv)
{
    struct pipe p;
    int words = 2, status;

    signal(SIGPIPE, SIG_IGN);
    if (argc == 2 && strcmp(argv[1], "--far") == 0)
        return far_side();
    while (words < argc && strcmp(argv[words], "--") != 0)
        words++;
    if (words + 1 >= argc) {
        fprintf(stderr, "usage: floor_pipe BUDGET_MS BYTES... -- REMOTE_SHELL...\n");
        return 2;
    }
    pid_t child = start(argv + words + 1, &p);
    for (int i = 2; i < words; i++)
        measure_size(&p, strtoull(argv[i], NULL, 10), 1e-3 * atof(argv[1]));
    close(p.to);
    if (waitpid(child, &status, 0) != child || status != 0)
        fail("the remote shell failed");
    return 0;
}
