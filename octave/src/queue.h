/* queue.h: communicators, and the messages that wait in them.
 *
 * The tags of MPI are divided: 0 ... user_tag_max are the program's numbers; above them lie
 * those of payloads; above these, one for each hash of a tag that is a text; the last one is
 * the notice by which a process says that it sends nothing more.
 *
 * MPI shows only the first waiting message of each kind.  What is to be seen behind it has to be
 * taken off its queue (MPI_Improbe), onto a list of the communicator in the order of arrival, which
 * later receives search first.  Three kinds of look need that: a probe, which lists all messages; a
 * receive that met a text with the hash of another; and every wait in a watched communicator, one
 * of MPI_Run, where a process may end while another waits for it.  There the notice is taken as it
 * comes, behind everything else from its sender, so that nobody waits for who has ended.
 */
#ifndef POSTRIDER_QUEUE_H
#define POSTRIDER_QUEUE_H

#include <mpi.h>
#include <stddef.h>
#include <stdint.h>

struct exchange {
    int running;
    int finalized;
    int user_tag_max;
    int payload_tag_max;
    int tag_max;
};

extern struct exchange exchange;

/* A number, or MPI_ANY_TAG, or a text and the number of its hash. */
struct tag {
    int number;
    const unsigned char *text;
    size_t length;
};

struct waiting {
    MPI_Message message;
    int source;
    int tag;
    uint64_t bytes;
    /* A message under a text has been received, to know the text, which lies in it. */
    unsigned char *encoding;
    const unsigned char *text;
    size_t text_length;
    struct waiting *next;
};

/* What is known of a communicator.  Made at the first use, gone when it is freed. */
struct channel {
    MPI_Comm comm;
    /* The rank of this process, or -1 where none of the sources can be itself: in an
       inter-communicator. */
    int rank;
    /* The number of processes that can be sent to. */
    int size;
    struct waiting *first;
    struct waiting **last;
    /* Which ranks have sent their notice, in a watched communicator, and otherwise NULL. */
    unsigned char *ended;
    /* Says what is wrong with the other processes; where it is there, a wait looks again and
       again instead of blocking. */
    const char *(*check)(struct channel *channel);
    struct channel *next;
};

/* Each returns NULL, or the text of an error. */
const char *out_of_memory(void);

/* The communicator used last is found by one comparison. */
const char *exchange_channel(MPI_Comm comm, struct channel **channel);
/* From now on every wait in the communicator minds who has ended. */
const char *channel_watch(struct channel *channel, const char *(*check)(struct channel *channel));
/* Tells the others that this process sends nothing more. */
void channel_leave(struct channel *channel);
/* The next one after `channel`; the first after NULL. */
struct channel *channel_after(const struct channel *channel);

struct tag tag_of_number(int number);
/* The text is not copied. */
struct tag tag_of_text(const unsigned char *text, size_t length);

/* Whether a message is one that a receive from this source with this tag takes. */
int waiting_matches(const struct waiting *waiting, int source, const struct tag *tag);
/* The first matching message: from the list, else from MPI. */
const char *queue_await(struct channel *channel, int source, const struct tag *tag,
                        struct waiting *found);
/* Takes all that has arrived onto the list. */
const char *queue_take_all(struct channel *channel);
const char *queue_discard(struct waiting *message);
/* Waits a moment, longer the longer it has been called in a row. */
void queue_pause(unsigned *pauses);

#endif
