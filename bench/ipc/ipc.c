/* Times of System V calls, one line for each: a name, and nanoseconds. The medians of several rounds.

   ping-pong: half the way there and back of a message between two processes, by two types of one queue; semaphore: one operation that nobody waits for;
   alternate: half a turn of two processes that wait for each other's semaphore. */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ipc.h>
#include <sys/msg.h>
#include <sys/sem.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define ROUNDS 9

static struct {
    long type;
    char text[65536];
} message;

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec * 1e9 + time.tv_nsec;
}

static void must(int good)
{
    if (!good) {
        perror("ipc");
        exit(1);
    }
}

static int compare(const void *a, const void *b)
{
    double left = *(const double *) a, right = *(const double *) b;
    return (left > right) - (left < right);
}

static void report(const char *name, double times[ROUNDS], double count)
{
    qsort(times, ROUNDS, sizeof *times, compare);
    printf("%s %.0f\n", name, times[ROUNDS / 2] / count);
    fflush(stdout);
}

static void bounce(int queue, size_t bytes, int turns, long send, long receive, int first)
{
    for (int turn = 0; turn < turns; turn++) {
        for (int half = 0; half < 2; half++) {
            if ((half == 0) == first) {
                message.type = send;
                must(msgsnd(queue, &message, bytes, 0) == 0);
            } else {
                must(msgrcv(queue, &message, bytes, receive, 0) == (long) bytes);
            }
        }
    }
}

static void ping_pong(const char *name, size_t bytes, int turns)
{
    int queue = msgget(IPC_PRIVATE, 0600);
    must(queue != -1);
    pid_t child = fork();
    double times[ROUNDS];
    for (int round = 0; round < ROUNDS; round++) {
        double start = now();
        bounce(queue, bytes, turns, child == 0 ? 2 : 1, child == 0 ? 1 : 2, child != 0);
        times[round] = now() - start;
    }
    if (child == 0)
        _exit(0);
    waitpid(child, NULL, 0);
    msgctl(queue, IPC_RMID, NULL);
    report(name, times, 2.0 * turns);
}

static int change(int set, int semaphore, int by)
{
    return semop(set, &(struct sembuf) {(unsigned short) semaphore, (short) by, 0}, 1);
}

static void semaphore(int turns)
{
    int set = semget(IPC_PRIVATE, 1, 0600);
    double times[ROUNDS];
    for (int round = 0; round < ROUNDS; round++) {
        double start = now();
        for (int turn = 0; turn < turns; turn++)
            must(change(set, 0, turn % 2 ? -1 : 1) == 0);
        times[round] = now() - start;
    }
    semctl(set, 0, IPC_RMID);
    report("semaphore", times, turns);
}

static void alternate(int turns)
{
    int set = semget(IPC_PRIVATE, 2, 0600);
    pid_t child = fork();
    int own = child == 0;
    double times[ROUNDS];
    for (int round = 0; round < ROUNDS; round++) {
        double start = now();
        for (int turn = 0; turn < turns; turn++) {
            if (own == 0)
                must(change(set, 1, 1) == 0);
            must(change(set, own, -1) == 0);
            if (own == 1)
                must(change(set, 0, 1) == 0);
        }
        times[round] = now() - start;
    }
    if (child == 0)
        _exit(0);
    waitpid(child, NULL, 0);
    semctl(set, 0, IPC_RMID);
    report("alternate", times, 2.0 * turns);
}

int main(void)
{
    ping_pong("ping-pong-8", 8, 4000);
    ping_pong("ping-pong-64K", 65536, 1000);
    semaphore(50000);
    alternate(4000);
    return 0;
}
