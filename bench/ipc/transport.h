/*
 * What the three forms of the molecular dynamics program have of their own: how processes start, and how bytes get from one to another.
 *
 *     molecules_messages.c    System V message queues, one for each pair and direction
 *     molecules_memory.c      a System V segment with a place for each pair and direction, and two semaphores for each
 *     molecules_mpi.c         MPI_Send and MPI_Recv
 */
#ifndef POSTRIDER_BENCH_TRANSPORT_H
#define POSTRIDER_BENCH_TRANSPORT_H

#include <stddef.h>

/* The options that say how many processes there are, and which of them this host has. MPI's launcher says it for MPI. */
struct processes {
    int all, first, here;
};

/* Starts what is to be started, and returns the rank of this process; `processes` says afterwards how many there are. */
int transport_start(struct processes *processes);

/* Messages from one process to another come in order. A send may wait until they are received. */
void transport_send(int to, const void *data, size_t bytes);
void transport_receive(int from, void *data, size_t bytes);

/* Returns once everything that this process was sent has been received; in the process that began, once all have ended. */
void transport_end(void);

/* Ends the program with what the system says. */
void transport_fail(const char *what);

#endif
