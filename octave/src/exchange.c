/* exchange.c: see exchange.h. */
#include "exchange.h"
#include "mex_shared.h"
#include "problem.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A send that MPI has not finished with, and everything that it reads from. */
struct sending {
    MPI_Comm comm;
    struct outgoing message;
    /* As many requests for each destination as it gets parts: the encoding, and the payloads. */
    int *destinations;
    int parts;
    MPI_Request *requests;
    int request_count;
    struct sending *next;
};

/* Oldest first. */
static struct sending *sending_first;
static struct sending **sending_last = &sending_first;

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

const char *exchange_begin(void)
{
    int was_initialized = 0, found = 0, level;
    int *tag_max;
    const char *wrong = mpi_problem(MPI_Initialized(&was_initialized), "MPI_Initialized");
    if (wrong || exchange.running)
        return wrong;
    if (exchange.finalized)
        return "MPI has been finalized and cannot be started a second time";
    keep_freed_memory();
    if (!was_initialized)
        wrong = mpi_problem(MPI_Init_thread(NULL, NULL, getenv("POSTRIDER_JOB") ? MPI_THREAD_SINGLE : MPI_THREAD_MULTIPLE, &level),
                            "MPI_Init_thread");
    if (wrong)
        return wrong;
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    /* Errors that belong to no communicator come by this one (section 9.3). */
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    wrong = mpi_problem(MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, &tag_max, &found),
                        "MPI_Comm_get_attr");
    exchange_divide_tags(found ? *tag_max : 32767);
    exchange.running = 1;
    return wrong;
}

void exchange_divide_tags(int tag_max)
{
    exchange.tag_max = tag_max;
    exchange.user_tag_max = exchange.tag_max / 2;
    exchange.payload_tag_max = exchange.user_tag_max + exchange.tag_max / 4;
    payload_tag = exchange.user_tag_max;
}

/* ---- sending ---- */

static void release_sending(struct sending *sending)
{
    outgoing_release_payloads(&sending->message);
    buffer_free(&sending->message.buffer);
    free(sending->destinations);
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
    payload_tag =
        payload_tag < exchange.payload_tag_max ? payload_tag + 1 : exchange.user_tag_max + 1;
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
    if (sending) {
        sending->requests = malloc(requests * sizeof *sending->requests);
        sending->destinations = malloc((size_t)count * sizeof *destinations);
    }
    if (!sending || !sending->requests || !sending->destinations) {
        if (sending)
            release_sending(sending);
        /* The buffer is the next send's, so that this one has to be over. */
        if (started) {
            MPI_Request last = *started;
            MPI_Wait(&last, MPI_STATUS_IGNORE);
        }
        return out_of_memory();
    }
    sending->comm = comm;
    sending->parts = 1 + (int)message->payload_count;
    memcpy(sending->destinations, destinations, (size_t)count * sizeof *destinations);
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

/* Gives up what nobody receives any more, because its destination has ended or, where `failed`,
   all have.  What MPI may still read from stays in memory. */
static void abandon_sends(struct sending *sending, const struct channel *channel, int failed)
{
    int i;
    for (i = 0; i < sending->request_count; i++) {
        if (sending->requests[i] == MPI_REQUEST_NULL ||
            !(failed || channel->ended[sending->destinations[i / sending->parts]]))
            continue;
        MPI_Cancel(&sending->requests[i]);
        MPI_Request_free(&sending->requests[i]);
        memset(&sending->message, 0, sizeof sending->message);
    }
}

/* Until its requests have completed, or nobody is there to receive. */
static const char *finish_watched(struct sending *sending, struct channel *channel)
{
    const char *wrong = NULL;
    unsigned pauses = 0;
    int done = 0;
    for (;;) {
        wrong = mpi_problem(MPI_Testall(sending->request_count, sending->requests, &done,
                                        MPI_STATUSES_IGNORE), "MPI_Testall");
        if (wrong || done)
            return wrong;
        wrong = queue_take_all(channel);
        abandon_sends(sending, channel, wrong || (channel->check && channel->check(channel)));
        if (wrong)
            return NULL;
        queue_pause(&pauses);
    }
}

/* A communicator that has been freed meanwhile has no channel any more; what was sent by it is received all the same. */
static const char *finish(struct sending *sending)
{
    struct channel *channel = channel_after(NULL);
    const char *wrong;
    while (channel && channel->comm != sending->comm)
        channel = channel_after(channel);
    if (channel && channel->ended)
        wrong = finish_watched(sending, channel);
    else
        wrong = mpi_problem(MPI_Waitall(sending->request_count, sending->requests,
                                        MPI_STATUSES_IGNORE), "MPI_Waitall");
    release_sending(sending);
    return wrong;
}

const char *exchange_finish_sends(MPI_Comm comm)
{
    struct sending **link = &sending_first;
    const char *wrong = NULL;
    while (*link && !wrong) {
        struct sending *sending = *link;
        if (comm != MPI_COMM_NULL && sending->comm != comm) {
            link = &sending->next;
            continue;
        }
        *link = sending->next;
        wrong = finish(sending);
    }
    for (sending_last = link; *sending_last; sending_last = &(*sending_last)->next)
        ;
    return wrong;
}

const char *exchange_end(void)
{
    const char *wrong;
    if (!exchange.running)
        return NULL;
    wrong = exchange_finish_sends(MPI_COMM_NULL);
    exchange.running = 0;
    exchange.finalized = 1;
    return wrong ? wrong : mpi_problem(MPI_Finalize(), "MPI_Finalize");
}

/* ---- receiving ---- */

/* Takes the message off MPI's queue in which the next payload is. */
static const char *take_payload(struct channel *channel, int source, int tag, uint64_t bytes,
                                struct waiting **link)
{
    struct waiting *payload = malloc(sizeof *payload);
    const struct tag wanted = tag_of_number(tag);
    const char *wrong;
    if (!payload)
        return out_of_memory();
    wrong = queue_await(channel, source, &wanted, payload);
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
    if (header->payloads && (tag <= exchange.user_tag_max || tag > exchange.payload_tag_max)) {
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
        wrong = queue_discard(payload);
        free(payload);
    }
    return wrong;
}

/* One that has been received already, because of its text, is taken over. */
static const char *receive_encoding(struct waiting *found)
{
    const char *wrong = NULL;
    if (found->encoding) {
        free(arrived.bytes);
        arrived.bytes = found->encoding;
        arrived.capacity = (size_t)found->bytes + 1;
        arrived.used = (size_t)found->bytes;
        return NULL;
    }
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
    return wrong;
}

/* For the texts of errors. */
static const char *name_of_tag(const struct waiting *found)
{
    static char name[64];
    if (found->text)
        snprintf(name, sizeof name, "'%.*s'", found->text_length < 48 ? (int)found->text_length : 48,
                 (const char *)found->text);
    else
        snprintf(name, sizeof name, "%d", found->tag);
    return name;
}

/* Takes the tag's text off, which is the first value of a message under one. */
static const char *decode_behind_text(int wanted, mxArray *values[])
{
    mxArray **all = mxCalloc((size_t)wanted + 1, sizeof *all);
    const char *wrong = values_decode(&arrived, wanted + 1, all, receive_payload, NULL);
    int i;
    if (all[0])
        mxDestroyArray(all[0]);
    for (i = 0; i < wanted && !wrong; i++)
        values[i] = all[1 + i];
    mxFree(all);
    return wrong;
}

/* Decodes what receive_encoding() has received. */
static const char *decode_arrived(struct channel *channel, const struct waiting *found, int wanted,
                                  mxArray *values[])
{
    struct value_reader reader;
    struct message_header header;
    /* A call without outputs still shows the first value. */
    int shown = wanted ? wanted : 1;
    const char *wrong = message_check(arrived.bytes, arrived.used), *left;
    if (wrong) {
        snprintf(problem_text, sizeof problem_text,
                 "the message from rank %d with tag %s is not one of values: %.200s", found->source,
                 name_of_tag(found), wrong);
        return problem_text;
    }
    message_open(&reader, arrived.bytes, arrived.used, &header);
    wrong = take_payloads(channel, reader, &header, found->source);
    if (!wrong && found->text)
        wrong = decode_behind_text(shown, values);
    else if (!wrong)
        wrong = values_decode(&arrived, shown, values, receive_payload, NULL);
    left = discard_payloads();
    header.values -= found->text != NULL;
    if (wrong || left || header.values >= (uint32_t)wanted)
        return wrong ? wrong : left;
    snprintf(problem_text, sizeof problem_text,
             "the message from rank %d with tag %s holds %lu values, but %d were asked for",
             found->source, name_of_tag(found), (unsigned long)header.values, wanted);
    return problem_text;
}

const char *exchange_receive_tagged(MPI_Comm comm, int source, const struct tag *tag, int wanted,
                                    mxArray *values[], struct waiting *from)
{
    struct channel *channel;
    struct waiting found;
    const char *wrong = exchange_channel(comm, &channel);
    advance_sendings();
    if (!wrong)
        wrong = discard_payloads();
    if (!wrong)
        wrong = queue_await(channel, source, tag, &found);
    if (!wrong)
        wrong = receive_encoding(&found);
    if (!wrong)
        wrong = decode_arrived(channel, &found, wanted, values);
    if (!wrong && from)
        *from = found;
    if (arrived.capacity > BUFFER_KEPT_BYTES)
        buffer_free(&arrived);
    return wrong;
}

const char *exchange_receive(MPI_Comm comm, int source, int tag, int wanted, mxArray *values[],
                             struct waiting *from)
{
    const struct tag number = tag_of_number(tag);
    return exchange_receive_tagged(comm, source, &number, wanted, values, from);
}

int exchange_matches(const struct waiting *waiting, int source, int tag)
{
    const struct tag number = tag_of_number(tag);
    return waiting_matches(waiting, source, &number);
}

const char *exchange_probe(MPI_Comm comm, struct waiting **first)
{
    struct channel *channel;
    const char *wrong = exchange_channel(comm, &channel);
    advance_sendings();
    if (!wrong)
        wrong = queue_take_all(channel);
    *first = wrong ? NULL : channel->first;
    return wrong;
}
