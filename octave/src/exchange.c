/* exchange.c: see exchange.h. */
#include "exchange.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct exchange exchange;

/* A send that MPI has not finished with, and everything that it reads from. */
struct sending {
    struct outgoing message;
    MPI_Request *requests;
    int request_count;
    struct sending *next;
};

/* Oldest first. */
static struct sending *sending_first;
static struct sending **sending_last = &sending_first;

static struct channel *channel_first;
static struct channel *channel_used_last;
/* Its attribute of a communicator is the channel, so that the channel ends with it. */
static int channel_key = MPI_KEYVAL_INVALID;

/* Payloads that belong to the message being decoded, taken off MPI's queue. */
static struct waiting *announced_first;

static struct outgoing new_message;
static struct byte_buffer arrived;
static int payload_tag;
static char problem_text[512];

/* A later call looks at no more than this many unfinished sends, so that many
   small ones do not make every call slower. */
enum { SENDINGS_TESTED = 8 };
/* Buffers above this size go back to the system after use. */
enum { BUFFER_KEPT_BYTES = 1 << 20 };

/* NULL for success, else the text of MPI's error. */
static const char *mpi_problem(int code, const char *call)
{
    char text[MPI_MAX_ERROR_STRING + 1];
    int length = 0;
    if (code == MPI_SUCCESS)
        return NULL;
    if (MPI_Error_string(code, text, &length) != MPI_SUCCESS)
        length = 0;
    text[length] = 0;
    snprintf(problem_text, sizeof problem_text, "%s failed: %.400s", call, text);
    return problem_text;
}

static const char *out_of_memory(void)
{
    return "out of memory for a message";
}

const char *exchange_begin(void)
{
    int was_initialized = 0, found = 0;
    int *tag_max;
    const char *wrong = mpi_problem(MPI_Initialized(&was_initialized), "MPI_Initialized");
    if (wrong || exchange.running)
        return wrong;
    if (exchange.finalized)
        return "MPI has been finalized and cannot be started a second time";
    if (!was_initialized)
        wrong = mpi_problem(MPI_Init(NULL, NULL), "MPI_Init");
    if (wrong)
        return wrong;
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    wrong = mpi_problem(MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, &tag_max, &found),
                        "MPI_Comm_get_attr");
    exchange.tag_max = found ? *tag_max : 32767;
    exchange.user_tag_max = exchange.tag_max / 2;
    payload_tag = exchange.user_tag_max;
    exchange.running = 1;
    return wrong;
}

/* ---- communicators ---- */

/* MPI frees a communicator, or is finalized: messages that a probe took and nobody received
   are lost with it. */
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
        free(lost);
    }
    channel_used_last = NULL;
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
    const char *wrong = NULL;
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

/* ---- sending ---- */

static void release_sending(struct sending *sending)
{
    outgoing_release_payloads(&sending->message);
    buffer_free(&sending->message.buffer);
    free(sending->requests);
    free(sending);
}

/* Releases what has completed.  An error of MPI shows in the transfer itself, at
   the receiver; the send is then over too. */
static void advance_sendings(void)
{
    struct sending **link = &sending_first;
    int tested;
    for (tested = 0; *link && tested < SENDINGS_TESTED; tested++) {
        struct sending *sending = *link;
        int done = 1;
        MPI_Testall(sending->request_count, sending->requests, &done, MPI_STATUSES_IGNORE);
        if (!done) {
            link = &sending->next;
            continue;
        }
        *link = sending->next;
        if (!*link)
            sending_last = link;
        release_sending(sending);
    }
}

static int next_payload_tag(void)
{
    payload_tag = payload_tag < exchange.tag_max ? payload_tag + 1 : exchange.user_tag_max + 1;
    return payload_tag;
}

static const char *start_sends(MPI_Comm comm, struct sending *sending, const int *destinations,
                               int count, int tag)
{
    struct outgoing *message = &sending->message;
    MPI_Request *request = sending->requests;
    const char *wrong = NULL;
    int i;
    size_t k;
    for (i = 0; i < count && !wrong; i++) {
        wrong = mpi_problem(MPI_Isend_c(message->buffer.bytes, (MPI_Count)message->buffer.used,
                                        MPI_BYTE, destinations[i], tag, comm, request),
                            "MPI_Isend");
        sending->request_count += !wrong;
        request++;
        for (k = 0; k < message->payload_count && !wrong; k++, request++) {
            const struct payload *payload = &message->payloads[k];
            wrong = mpi_problem(MPI_Isend_c(payload->data, (MPI_Count)payload->bytes, MPI_BYTE,
                                            destinations[i], payload_tag, comm, request),
                                "MPI_Isend");
            sending->request_count += !wrong;
        }
    }
    return wrong;
}

/* The common case, one small message to one process, completes at once and gives
   its buffer to the next send. */
static const char *send_small(MPI_Comm comm, struct outgoing *message, int destination, int tag,
                              int *done, MPI_Request *request)
{
    const char *wrong =
        mpi_problem(MPI_Isend_c(message->buffer.bytes, (MPI_Count)message->buffer.used, MPI_BYTE,
                                destination, tag, comm, request), "MPI_Isend");
    return wrong ? wrong : mpi_problem(MPI_Test(request, done, MPI_STATUS_IGNORE), "MPI_Test");
}

static const char *send_and_keep(MPI_Comm comm, struct outgoing *message, const int *destinations,
                                 int count, int tag, const MPI_Request *started)
{
    struct sending *sending = calloc(1, sizeof *sending);
    size_t requests = (size_t)count * (1 + message->payload_count);
    const char *wrong = NULL;
    if (sending)
        sending->requests = malloc(requests * sizeof *sending->requests);
    if (!sending || !sending->requests) {
        free(sending);
        /* The buffer is the next send's, so that this one has to be over. */
        if (started) {
            MPI_Request last = *started;
            MPI_Wait(&last, MPI_STATUS_IGNORE);
        }
        return out_of_memory();
    }
    sending->message = *message;
    memset(message, 0, sizeof *message);
    if (started) {
        sending->requests[0] = *started;
        sending->request_count = 1;
    } else {
        wrong = start_sends(comm, sending, destinations, count, tag);
    }
    *sending_last = sending;
    sending_last = &sending->next;
    return wrong;
}

struct outgoing *exchange_new_message(void)
{
    return &new_message;
}

const char *exchange_send(MPI_Comm comm, struct outgoing *message, int values,
                          const int *destinations, int destination_count, int tag)
{
    MPI_Request request;
    const char *wrong;
    int done = 0, small = message->payload_count == 0 && destination_count == 1;
    advance_sendings();
    message_end(&message->buffer, (uint32_t)values, (uint32_t)message->payload_count,
                message->payload_count ? (uint32_t)next_payload_tag() : 0);
    if (small) {
        wrong = send_small(comm, message, destinations[0], tag, &done, &request);
        if (done && message->buffer.capacity > BUFFER_KEPT_BYTES)
            buffer_free(&message->buffer);
        if (wrong || done)
            return wrong;
    }
    if (destination_count == 0) {
        outgoing_release_payloads(message);
        return NULL;
    }
    return send_and_keep(comm, message, destinations, destination_count, tag,
                         small ? &request : NULL);
}

const char *exchange_end(void)
{
    const char *wrong = NULL;
    if (!exchange.running)
        return NULL;
    while (sending_first && !wrong) {
        struct sending *sending = sending_first;
        sending_first = sending->next;
        wrong = mpi_problem(MPI_Waitall(sending->request_count, sending->requests,
                                        MPI_STATUSES_IGNORE), "MPI_Waitall");
        release_sending(sending);
    }
    sending_last = &sending_first;
    exchange.running = 0;
    exchange.finalized = 1;
    return wrong ? wrong : mpi_problem(MPI_Finalize(), "MPI_Finalize");
}

/* ---- receiving ---- */

int exchange_matches(const struct waiting *waiting, int source, int tag)
{
    return (source == MPI_ANY_SOURCE || source == waiting->source) &&
           (tag == waiting->tag || (tag == MPI_ANY_TAG && waiting->tag <= exchange.user_tag_max));
}

static const char *describe(struct waiting *waiting, const MPI_Status *status)
{
    MPI_Count bytes = 0;
    const char *wrong = mpi_problem(MPI_Get_count_c(status, MPI_BYTE, &bytes), "MPI_Get_count");
    waiting->source = status->MPI_SOURCE;
    waiting->tag = status->MPI_TAG;
    waiting->bytes = (uint64_t)bytes;
    if (!wrong && bytes < 0)
        return "a message is not a whole number of bytes";
    return wrong;
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

static const char *discard(struct waiting *message)
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

/* The first matching message: from the list of those that a probe took, else from MPI.
   A receive for any tag meets a payload only if the message was damaged that it belonged
   to. */
static const char *await_message(struct channel *channel, int source, int tag,
                                 struct waiting *found)
{
    struct waiting **link;
    const char *wrong;
    for (link = &channel->first; *link; link = &(*link)->next) {
        struct waiting *match = *link;
        if (!exchange_matches(match, source, tag))
            continue;
        *link = match->next;
        if (!*link)
            channel->last = link;
        *found = *match;
        free(match);
        return NULL;
    }
    wrong = match_message(channel, source, tag, found);
    while (!wrong && tag == MPI_ANY_TAG && found->tag > exchange.user_tag_max) {
        wrong = discard(found);
        if (!wrong)
            wrong = match_message(channel, source, tag, found);
    }
    return wrong;
}

/* Takes the message off MPI's queue in which the next payload is. */
static const char *take_payload(struct channel *channel, int source, int tag, uint64_t bytes,
                                struct waiting **link)
{
    struct waiting *payload = malloc(sizeof *payload);
    const char *wrong;
    if (!payload)
        return out_of_memory();
    wrong = await_message(channel, source, tag, payload);
    if (wrong) {
        free(payload);
        return wrong;
    }
    payload->next = NULL;
    *link = payload;
    if (payload->bytes == bytes)
        return NULL;
    snprintf(problem_text, sizeof problem_text,
             "a payload from rank %d has %llu bytes where %llu were announced", source,
             (unsigned long long)payload->bytes, (unsigned long long)bytes);
    return problem_text;
}

/* All payloads have arrived, and have the lengths that the values need, before an
   array is made: nothing is allocated for what is not there, and whatever goes wrong
   with one value leaves no payload behind that a later receive could meet. */
static const char *take_payloads(struct channel *channel, struct value_reader reader,
                                 const struct message_header *header, int source)
{
    struct waiting **link = &announced_first;
    const char *wrong = NULL;
    int tag = (int)header->payload_tag;
    if (header->payloads && (tag <= exchange.user_tag_max || tag > exchange.tag_max)) {
        snprintf(problem_text, sizeof problem_text,
                 "the message from rank %d names tag %d for its payloads, which is not one of them",
                 source, tag);
        return problem_text;
    }
    while (header->payloads && reader.at < reader.end && !wrong) {
        struct value_item item;
        wrong = value_read(&reader, &item);
        if (wrong || !(item.flags & VALUE_EXTERNAL))
            continue;
        wrong = take_payload(channel, source, tag, item.data_bytes, link);
        if (*link)
            link = &(*link)->next;
    }
    return wrong;
}

static const char *receive_payload(void *context, void *to, uint64_t bytes)
{
    struct waiting *payload = announced_first;
    const char *wrong;
    (void)context;
    announced_first = payload->next;
    wrong = mpi_problem(MPI_Mrecv_c(to, (MPI_Count)bytes, MPI_BYTE, &payload->message,
                                    MPI_STATUS_IGNORE), "MPI_Mrecv");
    free(payload);
    return wrong;
}

/* Payloads of values that nobody asked for, or that an error kept from being received.
   Also that of the interpreter, which leaves a receive without coming back. */
static const char *discard_payloads(void)
{
    const char *wrong = NULL;
    while (announced_first && !wrong) {
        struct waiting *payload = announced_first;
        announced_first = payload->next;
        wrong = discard(payload);
        free(payload);
    }
    return wrong;
}

static const char *receive_encoding(struct waiting *found)
{
    const char *wrong;
    if (found->bytes > arrived.capacity) {
        unsigned char *bytes = realloc(arrived.bytes, (size_t)found->bytes);
        if (!bytes)
            return out_of_memory();
        arrived.bytes = bytes;
        arrived.capacity = (size_t)found->bytes;
    }
    arrived.used = (size_t)found->bytes;
    wrong = mpi_problem(MPI_Mrecv_c(arrived.bytes, (MPI_Count)found->bytes, MPI_BYTE,
                                    &found->message, MPI_STATUS_IGNORE), "MPI_Mrecv");
    if (wrong)
        return wrong;
    wrong = message_check(arrived.bytes, arrived.used);
    if (!wrong)
        return NULL;
    snprintf(problem_text, sizeof problem_text,
             "the message from rank %d with tag %d is not one of values: %.200s", found->source,
             found->tag, wrong);
    return problem_text;
}

/* Decodes what receive_encoding() has received. */
static const char *decode_arrived(struct channel *channel, const struct waiting *found, int wanted,
                                  mxArray *values[])
{
    struct value_reader reader;
    struct message_header header;
    const char *wrong, *left;
    message_open(&reader, arrived.bytes, arrived.used, &header);
    wrong = take_payloads(channel, reader, &header, found->source);
    /* A call without outputs still shows the first value. */
    if (!wrong)
        wrong = values_decode(&arrived, wanted ? wanted : 1, values, receive_payload, NULL);
    left = discard_payloads();
    if (wrong || left || header.values >= (uint32_t)wanted)
        return wrong ? wrong : left;
    snprintf(problem_text, sizeof problem_text,
             "the message from rank %d with tag %d holds %lu values, but %d were asked for",
             found->source, found->tag, (unsigned long)header.values, wanted);
    return problem_text;
}

const char *exchange_receive(MPI_Comm comm, int source, int tag, int wanted, mxArray *values[],
                             struct waiting *from)
{
    struct channel *channel;
    struct waiting found;
    const char *wrong = exchange_channel(comm, &channel);
    advance_sendings();
    if (!wrong)
        wrong = discard_payloads();
    if (!wrong)
        wrong = await_message(channel, source, tag, &found);
    if (!wrong && from)
        *from = found;
    if (!wrong)
        wrong = receive_encoding(&found);
    if (!wrong)
        wrong = decode_arrived(channel, &found, wanted, values);
    if (arrived.capacity > BUFFER_KEPT_BYTES)
        buffer_free(&arrived);
    return wrong;
}

/* The next message of MPI's queue, if there is one, to the end of the list. */
static const char *take_waiting(struct channel *channel, int *taken)
{
    struct waiting *waiting = malloc(sizeof *waiting);
    MPI_Status status;
    const char *wrong;
    if (!waiting)
        return out_of_memory();
    wrong = mpi_problem(MPI_Improbe(MPI_ANY_SOURCE, MPI_ANY_TAG, channel->comm, taken,
                                    &waiting->message, &status), "MPI_Improbe");
    if (!wrong && *taken)
        wrong = describe(waiting, &status);
    if (wrong || !*taken) {
        free(waiting);
        return wrong;
    }
    waiting->next = NULL;
    *channel->last = waiting;
    channel->last = &waiting->next;
    return NULL;
}

const char *exchange_probe(MPI_Comm comm, struct waiting **first)
{
    struct channel *channel;
    int taken = 1;
    const char *wrong = exchange_channel(comm, &channel);
    advance_sendings();
    while (!wrong && taken)
        wrong = take_waiting(channel, &taken);
    *first = wrong ? NULL : channel->first;
    return wrong;
}
