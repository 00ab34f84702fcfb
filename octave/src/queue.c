/* queue.c: see queue.h. */
#include "queue.h"
#include "problem.h"
#include "value_codec.h"

#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

struct exchange exchange;

static struct channel *channel_first;
static struct channel *channel_used_last;
/* Its attribute of a communicator is the channel, so that the channel ends with it. */
static int channel_key = MPI_KEYVAL_INVALID;
static char problem_text[512];

const char *out_of_memory(void)
{
    return "out of memory for a message";
}

/* ---- tags ---- */

struct tag tag_of_number(int number)
{
    struct tag tag = {number, NULL, 0};
    return tag;
}

/* FNV-1a; postrider/exchange.py computes the same. */
struct tag tag_of_text(const unsigned char *text, size_t length)
{
    uint32_t hash = 2166136261u, count = (uint32_t)(exchange.tag_max - exchange.payload_tag_max - 1);
    struct tag tag = {0, text, length};
    size_t i;
    for (i = 0; i < length; i++)
        hash = (hash ^ text[i]) * 16777619u;
    tag.number = exchange.payload_tag_max + 1 + (int)(hash % count);
    return tag;
}

static int is_payload(int tag)
{
    return tag > exchange.user_tag_max && tag <= exchange.payload_tag_max;
}

static int is_text(int tag)
{
    return tag > exchange.payload_tag_max && tag < exchange.tag_max;
}

/* ---- communicators ---- */

/* MPI frees a communicator, or is finalized: messages that were taken and that nobody
   received are lost with it. */
static int forget_channel(MPI_Comm comm, int key, void *value, void *extra)
{
    struct channel *channel = value, **link = &channel_first;
    (void)comm, (void)key, (void)extra;
    while (*link && *link != channel)
        link = &(*link)->next;
    if (*link)
        *link = channel->next;
    while (channel->first) {
        struct waiting *lost = channel->first;
        channel->first = lost->next;
        free(lost->encoding);
        free(lost);
    }
    channel_used_last = NULL;
    free(channel->ended);
    free(channel);
    return MPI_SUCCESS;
}

static const char *describe_channel(struct channel *channel)
{
    int inter = 0;
    const char *wrong = mpi_problem(MPI_Comm_test_inter(channel->comm, &inter), "MPI_Comm_test_inter");
    channel->rank = -1;
    if (wrong)
        return wrong;
    if (inter)
        return mpi_problem(MPI_Comm_remote_size(channel->comm, &channel->size),
                           "MPI_Comm_remote_size");
    wrong = mpi_problem(MPI_Comm_rank(channel->comm, &channel->rank), "MPI_Comm_rank");
    return wrong ? wrong : mpi_problem(MPI_Comm_size(channel->comm, &channel->size), "MPI_Comm_size");
}

static const char *open_channel(MPI_Comm comm, struct channel **opened)
{
    struct channel *channel = calloc(1, sizeof *channel);
    const char *wrong;
    if (!channel)
        return out_of_memory();
    channel->comm = comm;
    channel->last = &channel->first;
    wrong = describe_channel(channel);
    if (!wrong && channel_key == MPI_KEYVAL_INVALID)
        wrong = mpi_problem(MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, forget_channel,
                                                   &channel_key, NULL), "MPI_Comm_create_keyval");
    if (!wrong)
        wrong = mpi_problem(MPI_Comm_set_attr(comm, channel_key, channel), "MPI_Comm_set_attr");
    if (wrong) {
        free(channel);
        return wrong;
    }
    channel->next = channel_first;
    channel_first = channel;
    *opened = channel;
    return NULL;
}

const char *exchange_channel(MPI_Comm comm, struct channel **channel)
{
    const char *wrong = NULL;
    *channel = channel_used_last;
    if (*channel && (*channel)->comm == comm)
        return NULL;
    for (*channel = channel_first; *channel; *channel = (*channel)->next)
        if ((*channel)->comm == comm)
            break;
    if (!*channel)
        wrong = open_channel(comm, channel);
    if (!wrong)
        channel_used_last = *channel;
    return wrong;
}

struct channel *channel_after(const struct channel *channel)
{
    return channel ? channel->next : channel_first;
}

const char *channel_watch(struct channel *channel, const char *(*check)(struct channel *channel))
{
    channel->ended = calloc((size_t)channel->size, 1);
    channel->check = check;
    return channel->ended ? NULL : out_of_memory();
}

/* The notice has no bytes, so that it is gone at once; should somebody not take it, nothing
   depends on that. */
void channel_leave(struct channel *channel)
{
    int rank;
    if (!channel->ended || channel->ended[channel->rank])
        return;
    channel->ended[channel->rank] = 1;
    for (rank = 0; rank < channel->size; rank++) {
        MPI_Request request;
        if (!channel->ended[rank] && MPI_Isend(NULL, 0, MPI_BYTE, rank, exchange.tag_max,
                                               channel->comm, &request) == MPI_SUCCESS)
            MPI_Request_free(&request);
    }
}

/* ---- messages ---- */

int waiting_matches(const struct waiting *waiting, int source, const struct tag *tag)
{
    if (source != MPI_ANY_SOURCE && source != waiting->source)
        return 0;
    if (tag->number == MPI_ANY_TAG)
        return !is_payload(waiting->tag);
    if (tag->number != waiting->tag)
        return 0;
    return !tag->text || (waiting->text && waiting->text_length == tag->length &&
                          memcmp(waiting->text, tag->text, tag->length) == 0);
}

static const char *describe(struct waiting *waiting, const MPI_Status *status)
{
    MPI_Count bytes = 0;
    const char *wrong = mpi_problem(MPI_Get_count_c(status, MPI_BYTE, &bytes), "MPI_Get_count");
    waiting->source = status->MPI_SOURCE;
    waiting->tag = status->MPI_TAG;
    waiting->bytes = (uint64_t)bytes;
    waiting->encoding = NULL;
    waiting->text = NULL;
    waiting->text_length = 0;
    waiting->next = NULL;
    if (!wrong && bytes < 0)
        return "a message is not a whole number of bytes";
    return wrong;
}

/* Receives a message under a text, and finds the text: its first value.  One without has been
   damaged, and is refused when it is decoded. */
static const char *read_text(struct waiting *waiting)
{
    struct value_reader reader;
    struct message_header header;
    struct value_item item;
    const char *wrong;
    waiting->encoding = malloc((size_t)waiting->bytes + 1);
    if (!waiting->encoding)
        return out_of_memory();
    wrong = mpi_problem(MPI_Mrecv_c(waiting->encoding, (MPI_Count)waiting->bytes, MPI_BYTE,
                                    &waiting->message, MPI_STATUS_IGNORE), "MPI_Mrecv");
    if (wrong)
        return wrong;
    if (!message_check(waiting->encoding, (size_t)waiting->bytes) &&
        !message_open(&reader, waiting->encoding, (size_t)waiting->bytes, &header) &&
        header.values > 0 && !value_read(&reader, &item) && item.type == VALUE_CHAR8 && item.data) {
        waiting->text = item.data;
        waiting->text_length = (size_t)item.elements;
    }
    return NULL;
}

const char *queue_discard(struct waiting *message)
{
    void *discarded = malloc((size_t)message->bytes + 1);
    const char *wrong;
    if (!discarded)
        return out_of_memory();
    wrong = mpi_problem(MPI_Mrecv_c(discarded, (MPI_Count)message->bytes, MPI_BYTE,
                                    &message->message, MPI_STATUS_IGNORE), "MPI_Mrecv");
    free(discarded);
    return wrong;
}

static const char *append(struct channel *channel, const struct waiting *found)
{
    struct waiting *waiting = malloc(sizeof *waiting);
    if (!waiting)
        return out_of_memory();
    *waiting = *found;
    waiting->next = NULL;
    *channel->last = waiting;
    channel->last = &waiting->next;
    return NULL;
}

static int take_from_list(struct channel *channel, struct waiting **link, int source,
                          const struct tag *tag, struct waiting *found)
{
    for (; *link; link = &(*link)->next) {
        struct waiting *match = *link;
        if (!waiting_matches(match, source, tag))
            continue;
        *link = match->next;
        if (!*link)
            channel->last = link;
        *found = *match;
        free(match);
        return 1;
    }
    return 0;
}

/* The next message, whatever it is, to the end of the list; a notice is noted. */
static const char *take_next(struct channel *channel, int block, int *taken)
{
    struct waiting found;
    MPI_Status status;
    const char *wrong;
    *taken = 1;
    wrong = block ? mpi_problem(MPI_Mprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, channel->comm,
                                           &found.message, &status), "MPI_Mprobe")
                  : mpi_problem(MPI_Improbe(MPI_ANY_SOURCE, MPI_ANY_TAG, channel->comm, taken,
                                            &found.message, &status), "MPI_Improbe");
    if (wrong || !*taken)
        return wrong;
    wrong = describe(&found, &status);
    if (wrong)
        return wrong;
    if (channel->ended && found.tag == exchange.tag_max) {
        channel->ended[found.source] = 1;
        return queue_discard(&found);
    }
    if (is_text(found.tag))
        wrong = read_text(&found);
    return wrong ? wrong : append(channel, &found);
}

const char *queue_take_all(struct channel *channel)
{
    const char *wrong = NULL;
    int taken = 1;
    while (taken && !wrong)
        wrong = take_next(channel, 0, &taken);
    return wrong;
}

void queue_pause(unsigned *pauses)
{
    enum { YIELDS = 2000, LONGEST_US = 2000 };
    struct timespec moment = {0, 0};
    ++*pauses;
    if (*pauses < YIELDS) {
        sched_yield();
        return;
    }
    moment.tv_nsec = 1000L * (*pauses - YIELDS < LONGEST_US - 20 ? 20 + *pauses - YIELDS : LONGEST_US);
    nanosleep(&moment, NULL);
}

static const char *nobody_left(const struct channel *channel, int source)
{
    int rank;
    if (source != MPI_ANY_SOURCE) {
        if (!channel->ended[source])
            return NULL;
        snprintf(problem_text, sizeof problem_text,
                 "rank %d has ended without sending a message that matches", source);
        return problem_text;
    }
    for (rank = 0; rank < channel->size; rank++)
        if (rank != channel->rank && !channel->ended[rank])
            return NULL;
    return "all other ranks have ended without sending a message that matches";
}

/* In a watched communicator: everything is taken as it comes, until one matches. */
static const char *await_watched(struct channel *channel, int source, const struct tag *tag,
                                 struct waiting *found)
{
    const char *wrong;
    unsigned pauses = 0;
    int taken;
    for (;;) {
        struct waiting **new = channel->last;
        wrong = take_next(channel, 0, &taken);
        if (!wrong && !taken && !(wrong = nobody_left(channel, source)) && !channel->check)
            wrong = take_next(channel, 1, &taken);
        if (wrong || take_from_list(channel, new, source, tag, found))
            return wrong;
        if (taken)
            continue;
        /* What was sent before the end arrives before it is seen. */
        wrong = channel->check(channel);
        if (wrong && !queue_take_all(channel) && take_from_list(channel, new, source, tag, found))
            return NULL;
        if (wrong)
            return wrong;
        queue_pause(&pauses);
    }
}

/* The first matching message of MPI's queue.  What this process sends to itself is
   there at once.  Waiting for what is not would last for ever, and no key ends that:
   Octave sees an interrupt only between its own steps. */
static const char *match_message(const struct channel *channel, int source, int tag,
                                 struct waiting *found)
{
    MPI_Status status;
    int flag = 1, own = channel->rank >= 0 && (source == channel->rank || channel->size == 1);
    const char *wrong =
        own ? mpi_problem(MPI_Improbe(channel->rank, tag, channel->comm, &flag, &found->message,
                                      &status), "MPI_Improbe")
            : mpi_problem(MPI_Mprobe(source, tag, channel->comm, &found->message, &status),
                          "MPI_Mprobe");
    if (wrong || flag)
        return wrong ? wrong : describe(found, &status);
    snprintf(problem_text, sizeof problem_text,
             "rank %d has sent itself no message that matches, and would wait for ever; "
             "call MPI_Send first", channel->rank);
    return problem_text;
}

/* A receive for any tag meets a payload only if the message was damaged that it belonged
   to. */
static const char *await_in_mpi(struct channel *channel, int source, const struct tag *tag,
                                struct waiting *found)
{
    for (;;) {
        const char *wrong = match_message(channel, source, tag->number, found);
        if (!wrong && is_text(found->tag))
            wrong = read_text(found);
        if (wrong || waiting_matches(found, source, tag))
            return wrong;
        wrong = is_payload(found->tag) ? queue_discard(found) : append(channel, found);
        if (wrong)
            return wrong;
    }
}

const char *queue_await(struct channel *channel, int source, const struct tag *tag,
                        struct waiting *found)
{
    if (channel->first && take_from_list(channel, &channel->first, source, tag, found))
        return NULL;
    if (channel->ended && source != channel->rank && channel->size > 1)
        return await_watched(channel, source, tag, found);
    return await_in_mpi(channel, source, tag, found);
}
