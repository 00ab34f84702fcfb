/*
 * The processes of a form without MPI: the program forks them.
 */
#ifndef POSTRIDER_BENCH_PROCESSES_H
#define POSTRIDER_BENCH_PROCESSES_H

#include "transport.h"

/* Forks all processes of this host but the one that goes on, and returns the rank. */
int processes_fork(const struct processes *processes);

/* The process that began waits for the others, and fails if one of them has failed. */
void processes_wait(void);

#endif
