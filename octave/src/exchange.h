/* exchange.h: messages of values over MPI point-to-point (chapter 3).
 *
 * A message is its encoding under the user's tag, followed by its payloads, each
 * as a message of its own in the order of the values, under one payload tag that
 * the encoding names.  Payload tags come from the upper half of the tags, user
 * tags from the lower, so that a receive with the user's tag never meets a
 * payload.  Messages of one sender do not overtake each other and a payload is
 * taken together with its encoding, so that a wildcard never meets one either:
 * the encoding in front of it would match first.
 *
 * Sends are nonblocking and complete at later calls.  MPI_Probe of MatlabMPI
 * lists every waiting message; MPI shows only the first of each kind.  So
 * exchange_probe() takes all of them off MPI's queue (MPI_Improbe) onto a list of
 * ours in the order of arrival, which later receives search first.
 */
#ifndef POSTRIDER_EXCHANGE_H
#define POSTRIDER_EXCHANGE_H

#include "mex_values.h"
#include <mpi.h>

struct exchange {
    int running;
    int finalized;
    /* User tags are 0 ... user_tag_max, payload tags lie above. */
    int user_tag_max;
    int tag_max;
};

extern struct exchange exchange;

struct waiting {
    MPI_Message message;
    int source;
    int tag;
    uint64_t bytes;
    struct waiting *next;
};

/* What is known of a communicator, and the messages that a probe has taken off its
   queue, in the order of arrival.  Made at the first use, gone when the communicator is
   freed. */
struct channel {
    MPI_Comm comm;
    /* The rank of this process, or -1 where none of the sources can be itself: in an
       inter-communicator. */
    int rank;
    /* The number of processes that can be sent to. */
    int size;
    struct waiting *first;
    struct waiting **last;
    struct channel *next;
};

/* Each returns NULL, or the text of an error. */
const char *exchange_begin(void);
/* Waits until every send has completed, and finalizes MPI. */
const char *exchange_end(void);

/* The communicator used last is found by one comparison. */
const char *exchange_channel(MPI_Comm comm, struct channel **channel);

/* Takes over `message`: its buffer and its kept arrays. */
const char *exchange_send(MPI_Comm comm, struct outgoing *message, int values,
                          const int *destinations, int destination_count, int tag);
/* An emptied message whose buffer is used again by the next send. */
struct outgoing *exchange_new_message(void);

/* Waits for the next matching message and decodes its first `wanted` values; it is
   an error when it holds fewer.  `from`, unless NULL, receives the source and tag, and the
   number of bytes without payloads. */
const char *exchange_receive(MPI_Comm comm, int source, int tag, int wanted, mxArray *values[],
                             struct waiting *from);

/* All waiting messages, payloads left out by exchange_matches(). */
const char *exchange_probe(MPI_Comm comm, struct waiting **first);
int exchange_matches(const struct waiting *waiting, int source, int tag);

#endif
