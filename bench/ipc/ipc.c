/*
 * Times of System V calls: on the kernel's own objects, or in a name space of `postrider ipc`.
 *
 *     ipc                         one host
 *     ipc --first 0|1             one of two hosts
 *
 * ping-pong: half the way there and back of a message between two processes, by two types of one queue; between hosts by two queues, each made by who
 * receives from it. semaphore: one operation that nobody waits for. alternate: half a turn of two processes that wait for each other's semaphore. start: a program
 * that makes one call, from its start to its end.
 */
#define _GNU_SOURCE
#include "../src/record.h"

#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ipc.h>
#include <sys/msg.h>
#include <sys/prctl.h>
#include <sys/sem.h>
#include <sys/wait.h>
#include <unistd.h>

enum { ROUNDS = 9, BYTES_MAX = 65536, KEY = 0x49500000 };

extern char **environ;

static struct {
    long type;
    char text[BYTES_MAX];
} message;

static void must(int good)
{
    if (!good) {
        perror("ipc");
        exit(1);
    }
}

/* A child that ends with its parent. */
static pid_t fork_tied(void)
{
    pid_t child = fork();
    if (child == 0)
        prctl(PR_SET_PDEATHSIG, SIGKILL);
    return child;
}

/* Where the two ends of a ping-pong send to and receive from. */
struct way {
    int queue;
    long type;
};

static void bounce(const struct way ways[2], size_t bytes, int turns, int end)
{
    for (int half = 0; half < 2 * turns; half++) {
        if (half % 2 == end) {
            message.type = ways[end].type;
            must(msgsnd(ways[end].queue, &message, bytes, 0) == 0);
        } else {
            must(msgrcv(ways[!end].queue, &message, bytes, ways[!end].type, 0) == (ssize_t)bytes);
        }
    }
}

static void report(const char *figure, int ranks, size_t bytes, double times_s[ROUNDS], double count)
{
    for (int round = 0; round < ROUNDS; round++)
        times_s[round] /= count;
    record_print(figure, ranks, bytes, record_median(times_s, ROUNDS, (long long)count), 1e6, "us");
}

/* Rounds of one end; the first end says how long they took. */
static void ping_pong(const struct way ways[2], size_t bytes, int turns, int end)
{
    double times_s[ROUNDS];
    for (int round = 0; round < ROUNDS; round++) {
        double start = record_now();
        bounce(ways, bytes, turns, end);
        times_s[round] = record_now() - start;
    }
    if (end == 0)
        report("ping-pong", 2, bytes, times_s, 2.0 * turns);
}

static void ping_pong_here(size_t bytes, int turns)
{
    int queue = msgget(IPC_PRIVATE, 0600);
    must(queue != -1);
    const struct way ways[2] = {{queue, 1}, {queue, 2}};
    pid_t child = fork_tied();
    ping_pong(ways, bytes, turns, child == 0);
    if (child == 0)
        _exit(0);
    waitpid(child, NULL, 0);
    msgctl(queue, IPC_RMID, NULL);
}

static int change(int set, int semaphore, int by)
{
    return semop(set, &(struct sembuf){(unsigned short)semaphore, (short)by, 0}, 1);
}

static void semaphore(int turns)
{
    int set = semget(IPC_PRIVATE, 1, 0600);
    double times_s[ROUNDS];
    for (int round = 0; round < ROUNDS; round++) {
        double start = record_now();
        for (int turn = 0; turn < turns; turn++)
            must(change(set, 0, turn % 2 ? -1 : 1) == 0);
        times_s[round] = record_now() - start;
    }
    semctl(set, 0, IPC_RMID);
    report("semaphore", 1, 0, times_s, turns);
}

static void alternate(int turns)
{
    int set = semget(IPC_PRIVATE, 2, 0600);
    pid_t child = fork_tied();
    int own = child == 0;
    double times_s[ROUNDS];
    for (int round = 0; round < ROUNDS; round++) {
        double start = record_now();
        for (int turn = 0; turn < turns; turn++) {
            if (own == 0)
                must(change(set, 1, 1) == 0);
            must(change(set, own, -1) == 0);
            if (own == 1)
                must(change(set, 0, 1) == 0);
        }
        times_s[round] = record_now() - start;
    }
    if (child == 0)
        _exit(0);
    waitpid(child, NULL, 0);
    semctl(set, 0, IPC_RMID);
    report("alternate", 2, 0, times_s, 2.0 * turns);
}

static void start(char *program, int times)
{
    char *words[] = {program, "nothing", NULL};
    double times_s[ROUNDS];
    for (int round = 0; round < ROUNDS; round++) {
        double begin = record_now();
        for (int time = 0; time < times; time++) {
            pid_t child;
            int status;
            must(posix_spawn(&child, program, NULL, NULL, words, environ) == 0);
            must(waitpid(child, &status, 0) == child && status == 0);
        }
        times_s[round] = record_now() - begin;
    }
    report("start", 1, 0, times_s, times);
}

/* The queue that an end receives from; the other one waits for it. */
static int queue_of(int end, int own)
{
    int queue;
    while ((queue = msgget(KEY + end, end == own ? IPC_CREAT | 0600 : 0600)) == -1)
        usleep(1000);
    return queue;
}

static void between_hosts(int end)
{
    int own = queue_of(end, end), other = queue_of(!end, end);
    const struct way ways[2] = {{end == 0 ? other : own, 1}, {end == 0 ? own : other, 1}};
    ping_pong(ways, 8, 200, end);
    ping_pong(ways, BYTES_MAX, 50, end);
    must(msgctl(own, IPC_RMID, NULL) == 0);
}

int main(int argc, char **argv)
{
    if (argc > 1 && strcmp(argv[1], "nothing") == 0)
        return msgctl(0, MSG_INFO, (struct msqid_ds *)message.text) == -1;
    for (int number = 1; number + 1 < argc; number += 2) {
        if (strcmp(argv[number], "--first") == 0) {
            between_hosts(atoi(argv[number + 1]));
            return 0;
        }
    }
    ping_pong_here(8, 4000);
    ping_pong_here(BYTES_MAX, 1000);
    semaphore(50000);
    alternate(4000);
    start(argv[0], 5);
    return 0;
}
