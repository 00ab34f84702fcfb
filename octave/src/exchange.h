/* exchange.h: messages of values over MPI point-to-point (chapter 3).
 *
 * A message is its encoding under the user's tag, followed by its payloads, each
 * as a message of its own in the order of the values, under one payload tag that
 * the encoding names.  Messages of one sender do not overtake each other and a payload is
 * taken together with its encoding, so that a wildcard never meets one either:
 * the encoding in front of it would match first.
 *
 * A tag that is no number of the user's range is a text.  The message then goes under the number
 * of the text's hash, and the text is its first value, which the receiver compares and takes off.
 *
 * Sends are nonblocking and complete at later calls.
 */
#ifndef POSTRIDER_EXCHANGE_H
#define POSTRIDER_EXCHANGE_H

#include "mex_values.h"
#include "queue.h"

/* Each returns NULL, or the text of an error. */
const char *exchange_begin(void);
/* By exchange_begin(), or by the first communicator of a program that has sessions alone. */
void exchange_divide_tags(int tag_max);
/* Waits until every send in the communicator, or everywhere if it is MPI_COMM_NULL, has completed
   that somebody can still receive. */
const char *exchange_finish_sends(MPI_Comm comm);
/* Finishes the sends, and finalizes MPI. */
const char *exchange_end(void);

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
/* The same with a tag that may be a text. */
const char *exchange_receive_tagged(MPI_Comm comm, int source, const struct tag *tag, int wanted,
                                    mxArray *values[], struct waiting *from);

/* waiting_matches() with a number. */
int exchange_matches(const struct waiting *waiting, int source, int tag);

/* All waiting messages, payloads left out by waiting_matches(). */
const char *exchange_probe(MPI_Comm comm, struct waiting **first);

#endif
