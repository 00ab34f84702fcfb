/* What the programs here share. Each says a line for everything that it tries: the expression, its value, and the error. The kernel says what
   is right: ipc.py compares. Identifiers, processes and times are not said. */

#ifndef IPC_H
#define IPC_H

#define _GNU_SOURCE
#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ipc.h>
#include <sys/mman.h>
#include <sys/msg.h>
#include <sys/sem.h>
#include <sys/shm.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define SAY(expression) say(#expression, (errno = 0, (long) (expression)))
#define TRIES(expression) tries(#expression, (errno = 0, (long) (expression)))

static inline void say(const char *what, long value)
{
    printf("%s: %ld\n", what, value);
    fflush(stdout);
}

/* Of a call that returns an identifier or an address: only whether it did. */
static inline void tries(const char *what, long value)
{
    int error = errno;
    printf("%s: %s\n", what, value != -1 ? "done" : strerrorname_np(error));
    fflush(stdout);
}

static inline int child_sleeps(pid_t child)
{
    char path[64], state = 0;
    snprintf(path, sizeof path, "/proc/%d/stat", child);
    FILE *file = fopen(path, "r");
    if (file == NULL)
        return 1;
    if (fscanf(file, "%*d (%*[^)]) %c", &state) != 1)
        state = 0;
    fclose(file);
    return state == 'S' || state == 'Z';
}

/* Waits until a child sleeps, three looks in a row. */
static inline void until_asleep(pid_t child)
{
    for (int looks = 0; looks < 3; looks = child_sleeps(child) ? looks + 1 : 0)
        usleep(2000);
}

/* Runs a body as a child, and gives its number. */
#define CHILD(pid, body)                                                                                               \
    do {                                                                                                               \
        fflush(stdout);                                                                                                \
        pid = fork();                                                                                                  \
        if (pid == 0) {                                                                                                \
            body;                                                                                                      \
            exit(0);                                                                                                   \
        }                                                                                                              \
    } while (0)

static inline int ended(pid_t child)
{
    int status;
    waitpid(child, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

static inline void on_signal(int number)
{
    (void) number;
}

static inline void handle(int number, int flags)
{
    struct sigaction action = {.sa_handler = on_signal, .sa_flags = flags};
    sigaction(number, &action, NULL);
}

#endif
