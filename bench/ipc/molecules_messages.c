/*
 * Messages of System V queues. A queue belongs to who receives from it: it makes it, and removes it in the end.
 */
#define _GNU_SOURCE
#include "processes.h"

#include <errno.h>
#include <string.h>
#include <sys/ipc.h>
#include <sys/msg.h>
#include <unistd.h>

/* What Linux allows by default, and how many processes there may be. */
enum { BYTES_MAX = 8192, PROCESSES_MAX = 64, KEY = 0x4d440000 };

static int rank;
/* Identifiers plus one, of the queues to others and from others. */
static int to_queue[PROCESSES_MAX], from_queue[PROCESSES_MAX];

static struct {
    long type;
    char bytes[BYTES_MAX];
} message = {1, ""};

static key_t key_of(int from, int to)
{
    return KEY + PROCESSES_MAX * from + to;
}

int transport_start(struct processes *processes)
{
    rank = processes_fork(processes);
    return rank;
}

static int queue_to(int to)
{
    while (to_queue[to] == 0) {
        to_queue[to] = msgget(key_of(rank, to), 0600) + 1;
        if (to_queue[to] == 0 && errno != ENOENT)
            transport_fail("msgget");
        if (to_queue[to] == 0)
            usleep(200);
    }
    return to_queue[to] - 1;
}

static int queue_from(int from)
{
    if (from_queue[from] == 0)
        from_queue[from] = msgget(key_of(from, rank), IPC_CREAT | 0600) + 1;
    if (from_queue[from] == 0)
        transport_fail("msgget");
    return from_queue[from] - 1;
}

void transport_send(int to, const void *data, size_t bytes)
{
    int queue = queue_to(to);
    for (size_t at = 0; at < bytes; at += BYTES_MAX) {
        size_t part = bytes - at < BYTES_MAX ? bytes - at : BYTES_MAX;
        memcpy(message.bytes, (const char *)data + at, part);
        if (msgsnd(queue, &message, part, 0) == -1)
            transport_fail("msgsnd");
    }
}

void transport_receive(int from, void *data, size_t bytes)
{
    int queue = queue_from(from);
    for (size_t at = 0; at < bytes; at += BYTES_MAX) {
        size_t part = bytes - at < BYTES_MAX ? bytes - at : BYTES_MAX;
        if (msgrcv(queue, &message, BYTES_MAX, 0, 0) != (ssize_t)part)
            transport_fail("msgrcv");
        memcpy((char *)data + at, message.bytes, part);
    }
}

void transport_end(void)
{
    for (int from = 0; from < PROCESSES_MAX; from++)
        if (from_queue[from] != 0 && msgctl(from_queue[from] - 1, IPC_RMID, NULL) == -1)
            transport_fail("msgctl");
    processes_wait();
}
