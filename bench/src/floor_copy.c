/*
 * The floor of a large message: one copy. By memcpy inside a process, and by process_vm_readv from another one, which is
 * how a message moves between processes without a copy in between. Usage: floor_copy BUDGET_MS BYTES…
 *
 * The source lives in a child that sleeps until the parent ends; both have touched every page beforehand.
 */
#define _GNU_SOURCE
#include "record.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

struct copy {
    pid_t other;
    char *to, *from;
    size_t bytes;
};

static double by_memcpy(void *context, int iterations)
{
    struct copy *c = context;
    double start = record_now();
    for (int i = 0; i < iterations; i++) {
        memcpy(c->to, c->from, c->bytes);
        /* The compiler must not see that the same bytes are copied every time. */
        __asm__ volatile("" : : "r"(c->to) : "memory");
    }
    return record_now() - start;
}

static void read_all(struct copy *c)
{
    size_t done = 0;
    while (done < c->bytes) {
        struct iovec to = {c->to + done, c->bytes - done}, from = {c->from + done, c->bytes - done};
        ssize_t got = process_vm_readv(c->other, &to, 1, &from, 1, 0);
        if (got <= 0) {
            perror("bench: process_vm_readv");
            kill(c->other, SIGKILL);
            exit(1);
        }
        done += (size_t)got;
    }
}

static double by_readv(void *context, int iterations)
{
    double start = record_now();
    for (int i = 0; i < iterations; i++)
        read_all(context);
    return record_now() - start;
}

static char *touched(size_t bytes, int value)
{
    char *memory = malloc(bytes + 64);
    if (memory == NULL) {
        fprintf(stderr, "bench: no memory for a buffer of %zu bytes\n", bytes);
        exit(1);
    }
    memset(memory, value, bytes + 64);
    return memory;
}

int main(int argc, char **argv)
{
    struct copy c;
    size_t largest = 0;
    if (argc < 3) {
        fprintf(stderr, "usage: floor_copy BUDGET_MS BYTES…\n");
        return 2;
    }
    for (int i = 2; i < argc; i++) {
        size_t bytes = strtoull(argv[i], NULL, 10);
        largest = bytes > largest ? bytes : largest;
    }
    c.to = touched(largest, 1);
    c.from = touched(largest, 2);
    c.other = fork();
    if (c.other == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        memset(c.from, 3, largest);
        for (;;)
            pause();
    }
    if (c.other < 0) {
        perror("bench: fork");
        return 1;
    }
    for (int i = 2; i < argc; i++) {
        c.bytes = strtoull(argv[i], NULL, 10);
        record_print("floor-memcpy", 1, c.bytes, record_adaptive(by_memcpy, &c, 1e-3 * atof(argv[1]), 1 << 20), 1e6,
                     "us");
        record_print("floor-readv", 2, c.bytes, record_adaptive(by_readv, &c, 1e-3 * atof(argv[1]), 1 << 20), 1e6,
                     "us");
    }
    kill(c.other, SIGKILL);
    waitpid(c.other, NULL, 0);
    return 0;
}
