/*
 * The floor of a small message: two processes, one shared cache line for each direction, spin a little, then sleep on a
 * futex. No matching, no envelope, no library; what an MPI adds to this is its own.
 *
 * Each direction has a sequence number, written by the sender after the payload (release), and a flag that the receiver
 * raises before it sleeps. The full fence on both sides between the own write and the read of the other's word makes sure
 * that either the sender sees the flag or the receiver sees the message.
 */
#define _GNU_SOURCE
#include "record.h"

#include <linux/futex.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum { SPINS = 2000 };

struct direction {
    _Alignas(128) _Atomic uint32_t sequence;
    uint64_t payload;
    _Alignas(128) _Atomic uint32_t receiver_sleeps;
};

struct shared {
    struct direction forth, back;
};

static void send_word(struct direction *d, uint64_t word)
{
    uint32_t next = atomic_load_explicit(&d->sequence, memory_order_relaxed) + 1;
    d->payload = word;
    atomic_store_explicit(&d->sequence, next, memory_order_seq_cst);
    if (atomic_load_explicit(&d->receiver_sleeps, memory_order_seq_cst) != 0)
        syscall(SYS_futex, &d->sequence, FUTEX_WAKE, 1, NULL, NULL, 0);
}

static uint64_t receive_word(struct direction *d, uint32_t expected)
{
    for (int spin = 0; spin < SPINS; spin++) {
        if (atomic_load_explicit(&d->sequence, memory_order_acquire) == expected)
            return d->payload;
        __builtin_ia32_pause();
    }
    atomic_store_explicit(&d->receiver_sleeps, 1, memory_order_seq_cst);
    while (atomic_load_explicit(&d->sequence, memory_order_seq_cst) != expected)
        syscall(SYS_futex, &d->sequence, FUTEX_WAIT, expected - 1, NULL, NULL, 0);
    atomic_store_explicit(&d->receiver_sleeps, 0, memory_order_relaxed);
    return d->payload;
}

static uint32_t received;

static double batch(void *context, int iterations)
{
    struct shared *s = context;
    double start = record_now();
    for (int i = 0; i < iterations; i++) {
        send_word(&s->forth, 1);
        receive_word(&s->back, ++received);
    }
    return record_now() - start;
}

int main(int argc, char **argv)
{
    double budget_s = argc > 1 ? 1e-3 * atof(argv[1]) : 0.05;
    struct shared *s = mmap(NULL, sizeof *s, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (s == MAP_FAILED) {
        perror("bench: shared memory");
        return 1;
    }
    pid_t child = fork();
    if (child == 0) {
        uint32_t count = 0;
        while (receive_word(&s->forth, ++count) != 0)
            send_word(&s->back, 1);
        _exit(0);
    }
    if (child < 0) {
        perror("bench: fork");
        return 1;
    }
    struct measured m = record_adaptive(batch, s, budget_s, 1 << 20);
    send_word(&s->forth, 0);
    waitpid(child, NULL, 0);
    record_print("floor-ring", 2, 8, m, 0.5e6, "us");
    return 0;
}
