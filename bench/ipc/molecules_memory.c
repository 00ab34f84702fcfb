/*
 * A System V segment. For each pair of processes and direction it has a place for one message; one semaphore says that the place is full, another one that
 * it is empty.
 */
#define _GNU_SOURCE
#include "processes.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ipc.h>
#include <sys/sem.h>
#include <sys/shm.h>
#include <unistd.h>

enum { BYTES_MAX = 8192, KEY = 0x4d440000 };

static int rank, all, set, segment;
static char *memory;

/* The first process makes the set, and then the segment, by which others see that the set is ready. */
static void make(void)
{
    unsigned short *values = calloc(2 * (size_t)(all * all), sizeof *values);
    for (int place = 0; place < all * all; place++)
        values[2 * place + 1] = 1;
    set = semget(KEY, 2 * all * all, IPC_CREAT | IPC_EXCL | 0600);
    if (set == -1 || semctl(set, 0, SETALL, values) == -1)
        transport_fail("semget");
    free(values);
    segment = shmget(KEY, (size_t)(all * all) * BYTES_MAX, IPC_CREAT | IPC_EXCL | 0600);
    if (segment == -1)
        transport_fail("shmget");
}

static void find(void)
{
    while ((segment = shmget(KEY, 0, 0600)) == -1) {
        if (errno != ENOENT)
            transport_fail("shmget");
        usleep(200);
    }
    set = semget(KEY, 0, 0600);
    if (set == -1)
        transport_fail("semget");
}

int transport_start(struct processes *processes)
{
    all = processes->all;
    if (processes->first == 0)
        make();
    else
        find();
    memory = shmat(segment, NULL, 0);
    if (memory == (void *)-1)
        transport_fail("shmat");
    rank = processes_fork(processes);
    return rank;
}

static void change(int semaphore, int by)
{
    struct sembuf operation = {(unsigned short)semaphore, (short)by, 0};
    if (semop(set, &operation, 1) == -1)
        transport_fail("semop");
}

void transport_send(int to, const void *data, size_t bytes)
{
    int place = all * rank + to;
    for (size_t at = 0; at < bytes; at += BYTES_MAX) {
        size_t part = bytes - at < BYTES_MAX ? bytes - at : BYTES_MAX;
        change(2 * place + 1, -1);
        memcpy(memory + (size_t)place * BYTES_MAX, (const char *)data + at, part);
        change(2 * place, 1);
    }
}

void transport_receive(int from, void *data, size_t bytes)
{
    int place = all * from + rank;
    for (size_t at = 0; at < bytes; at += BYTES_MAX) {
        size_t part = bytes - at < BYTES_MAX ? bytes - at : BYTES_MAX;
        change(2 * place, -1);
        memcpy((char *)data + at, memory + (size_t)place * BYTES_MAX, part);
        change(2 * place + 1, 1);
    }
}

void transport_end(void)
{
    processes_wait();
    if (rank == 0 && (semctl(set, 0, IPC_RMID) == -1 || shmctl(segment, IPC_RMID, NULL) == -1))
        transport_fail("shmctl");
}
