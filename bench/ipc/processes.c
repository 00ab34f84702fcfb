/*
 * The processes of a form without MPI; described in processes.h.
 */
#define _GNU_SOURCE
#include "processes.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

static pid_t *children;
static int count;

void transport_fail(const char *what)
{
    perror(what);
    exit(1);
}

int processes_fork(const struct processes *processes)
{
    children = calloc((size_t)processes->here, sizeof *children);
    for (int number = 1; number < processes->here; number++) {
        pid_t child = fork();
        if (child == -1)
            transport_fail("fork");
        if (child == 0) {
            prctl(PR_SET_PDEATHSIG, SIGKILL);
            count = 0;
            return processes->first + number;
        }
        children[count++] = child;
    }
    return processes->first;
}

void processes_wait(void)
{
    for (int left = count; left > 0; left--) {
        int status;
        if (wait(&status) == -1 || status != 0) {
            fprintf(stderr, "molecules: a process has failed\n");
            exit(1);
        }
    }
    free(children);
}
