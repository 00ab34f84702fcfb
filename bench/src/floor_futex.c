/*
 * The floor of a message when there are more ranks than cores: pairs of processes that exchange a word in shared memory
 * and sleep on it at once, without spinning. All pairs run at the same time and the time is that of the slowest, as in
 * latency.c. Usage: floor_futex RANKS [BUDGET_MS].
 *
 * The word of a direction holds the number of messages sent; the receiver sleeps while it has seen them all, the sender
 * adds one and wakes. The first process of each pair is a child too, so that every pair does the same work; the parent
 * only says how many iterations a batch has and sleeps until all pairs are done.
 */
#define _GNU_SOURCE
#include "record.h"

#include <limits.h>
#include <linux/futex.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum { PAIRS_MAX = 512 };

struct pair {
    _Alignas(128) _Atomic uint32_t forth;
    _Alignas(128) _Atomic uint32_t back;
};

struct shared {
    _Alignas(128) _Atomic uint32_t batch;
    _Atomic int iterations;
    _Alignas(128) _Atomic uint32_t done;
    struct pair pairs[PAIRS_MAX];
};

static int pairs;

static void add_and_wake(_Atomic uint32_t *word, int sleepers)
{
    atomic_fetch_add(word, 1);
    syscall(SYS_futex, word, FUTEX_WAKE, sleepers, NULL, NULL, 0);
}

static void sleep_until(_Atomic uint32_t *word, uint32_t expected)
{
    uint32_t now;
    while ((now = atomic_load(word)) != expected)
        syscall(SYS_futex, word, FUTEX_WAIT, now, NULL, NULL, 0);
}

static void pair_member(struct shared *s, struct pair *p, int first)
{
    uint32_t messages = 0;
    for (uint32_t batch = 1;; batch++) {
        sleep_until(&s->batch, batch);
        int iterations = atomic_load(&s->iterations);
        if (iterations == 0)
            _exit(0);
        for (int i = 0; i < iterations; i++) {
            messages++;
            if (first) {
                add_and_wake(&p->forth, 1);
                sleep_until(&p->back, messages);
            } else {
                sleep_until(&p->forth, messages);
                add_and_wake(&p->back, 1);
            }
        }
        if (first)
            add_and_wake(&s->done, 1);
    }
}

static uint32_t finished;

static double batch(void *context, int iterations)
{
    struct shared *s = context;
    double start = record_now();
    atomic_store(&s->iterations, iterations);
    add_and_wake(&s->batch, INT_MAX);
    finished += (uint32_t)pairs;
    sleep_until(&s->done, finished);
    return record_now() - start;
}

int main(int argc, char **argv)
{
    int ranks = argc > 1 ? atoi(argv[1]) : 2;
    double budget_s = argc > 2 ? 1e-3 * atof(argv[2]) : 0.05;
    pairs = ranks / 2;
    if (pairs < 1 || pairs > PAIRS_MAX || ranks % 2 != 0) {
        fprintf(stderr, "usage: floor_futex RANKS [BUDGET_MS], an even number of ranks up to %d\n", 2 * PAIRS_MAX);
        return 2;
    }
    struct shared *s = mmap(NULL, sizeof *s, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (s == MAP_FAILED) {
        perror("bench: shared memory");
        return 1;
    }
    for (int i = 0; i < ranks; i++) {
        pid_t child = fork();
        if (child == 0)
            pair_member(s, &s->pairs[i % pairs], i < pairs);
        if (child < 0) {
            perror("bench: fork");
            atomic_store(&s->iterations, 0);
            add_and_wake(&s->batch, INT_MAX);
            return 1;
        }
    }
    struct measured m = record_adaptive(batch, s, budget_s, 1 << 20);
    atomic_store(&s->iterations, 0);
    add_and_wake(&s->batch, INT_MAX);
    while (wait(NULL) > 0)
        ;
    record_print("floor-futex", ranks, 8, m, 0.5e6, "us");
    return 0;
}
