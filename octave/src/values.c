/* values.c: messages and collectives of values of any kind (chapters 3 and 6), the functions in lower case.
 *
 * Messages are those of exchange.c.  Collectives move the same encoding: of a broadcast the first bytes travel together with the
 * length, and large arrays straight from and into their memory; of the others each process tells how long its value is, and all go as
 * bytes.  Reductions of full arrays are MPI's, with operations that compute as the language does (operations.c).  Others, and those by a
 * function handle, bring the values together and apply the language's function in the order of ranks.
 */
#include "call.h"
#include "mex_shared.h"
#include "problem.h"

#include <stdlib.h>
#include <string.h>

/* ---- arguments ---- */

static const char *read_ends(int nrhs, const mxArray *prhs[], int first, int source, int *rank, int *tag)
{
    const char *wrong = NULL;
    *rank = MPI_ANY_SOURCE;
    *tag = source ? MPI_ANY_TAG : 0;
    if (nrhs > first && !mxIsEmpty(prhs[first]) && !(source && mxIsChar(prhs[first])))
        wrong = read_number(prhs[first], source ? "source" : "dest", rank);
    else if (!source)
        wrong = argument_problem("the rank to send to is missing");
    if (!wrong && nrhs > first + 1 && !mxIsEmpty(prhs[first + 1]) && !(source && mxIsChar(prhs[first + 1])))
        wrong = read_number(prhs[first + 1], "tag", tag);
    if (!wrong && (*tag < 0 ? !(source && *tag == MPI_ANY_TAG) : *tag > exchange.user_tag_max))
        wrong = argument_problem("tags of values are 0 to %d, not %d", exchange.user_tag_max, *tag);
    return wrong;
}

static const char *check_rank(const struct channel *channel, int rank, int source)
{
    if ((rank >= 0 && rank < channel->size) || rank == MPI_PROC_NULL || (source && rank == MPI_ANY_SOURCE))
        return NULL;
    return rank_problem(rank, channel->size);
}

static mxArray *empty(void)
{
    return mxCreateDoubleMatrix(0, 0, mxREAL);
}

/* ---- messages ---- */

static const char *send_one(MPI_Comm comm, const mxArray *value, int dest, int tag)
{
    struct outgoing *message = exchange_new_message();
    struct channel *channel;
    const char *wrong = exchange_channel(comm, &channel);
    if (!wrong)
        wrong = check_rank(channel, dest, 0);
    if (wrong || dest == MPI_PROC_NULL)
        return wrong;
    wrong = values_encode(message, 1, &value);
    return wrong ? wrong : exchange_send(comm, message, 1, &dest, 1, tag);
}

static const char *value_send(int nlhs, mxArray *plhs[], int nrhs, const mxArray *prhs[])
{
    MPI_Comm comm;
    int dest, tag;
    const char *wrong = nrhs < 3 ? argument_problem("c.send(value, dest, tag) is wanted") : read_communicator(prhs[0], &comm);
    (void)nlhs, (void)plhs;
    if (!wrong)
        wrong = read_ends(nrhs, prhs, 2, 0, &dest, &tag);
    return wrong ? wrong : send_one(comm, prhs[1], dest, tag);
}

/* The value is kept until MPI has taken it, so that the request is complete at once. */
static const char *value_isend(int nlhs, mxArray *plhs[], int nrhs, const mxArray *prhs[])
{
    const char *wrong = value_send(0, plhs, nrhs, prhs);
    (void)nlhs;
    if (!wrong)
        plhs[0] = completed_request();
    return wrong;
}

int value_is_waiting(MPI_Comm comm, int source, int tag, struct waiting *found)
{
    struct channel *channel;
    const struct waiting *waiting;
    MPI_Status status;
    int flag = 0;
    if (source == MPI_PROC_NULL || exchange_channel(comm, &channel))
        return 0;
    for (waiting = channel->first; waiting; waiting = waiting->next)
        if (exchange_matches(waiting, source, tag)) {
            *found = *waiting;
            return 1;
        }
    MPI_Iprobe(source, tag, comm, &flag, &status);
    found->source = status.MPI_SOURCE;
    found->tag = status.MPI_TAG;
    return flag;
}

int is_own(MPI_Comm comm, int source)
{
    struct channel *channel;
    if (exchange_channel(comm, &channel))
        return 0;
    return channel->rank >= 0 && (source == channel->rank || channel->size == 1);
}

const char *wait_for_value_message(MPI_Comm comm, int source, int tag)
{
    struct waiting found;
    const char *wrong = NULL;
    int turns = 0;
    if (!waits_can_end() || source == MPI_PROC_NULL || is_own(comm, source))
        return NULL;
    while (!wrong && !value_is_waiting(comm, source, tag, &found))
        wrong = pause_a_little(&turns);
    return wrong;
}

const char *receive_value(MPI_Comm comm, int source, int tag, int wanted, mxArray *values[], struct waiting *from)
{
    if (source != MPI_PROC_NULL)
        return exchange_receive(comm, source, tag, wanted, values, from);
    values[0] = empty();
    from->source = MPI_PROC_NULL;
    from->tag = MPI_ANY_TAG;
    from->bytes = 0;
    return NULL;
}

/* Earlier requests for values come first: as long as one is open that could match the same message, one looks whether the message that
   has come is for none of them. */
static const char *receive_in_turn(MPI_Comm comm, int source, int tag, mxArray **value, struct waiting *from)
{
    struct waiting found;
    int turns = 0;
    const char *wrong = advance_value_requests();
    while (!wrong && is_requested(comm, source, tag)) {
        if (value_is_waiting(comm, source, tag, &found) && !is_requested(comm, found.source, found.tag))
            return receive_value(comm, found.source, found.tag, 1, value, from);
        if (is_own(comm, source))
            break;
        wrong = pause_a_little(&turns);
        if (!wrong)
            wrong = advance_value_requests();
    }
    if (!wrong)
        wrong = wait_for_value_message(comm, source, tag);
    return wrong ? wrong : receive_value(comm, source, tag, 1, value, from);
}

static mxArray *status_of_value(const struct waiting *from)
{
    double numbers[5] = {from->source, from->tag, 0, (double)from->bytes, 0};
    return object_of("mpi.Status", 5, numbers);
}

static const char *receive_from(MPI_Comm comm, int source, int tag, int nlhs, mxArray *plhs[])
{
    struct channel *channel;
    struct waiting from;
    const char *wrong = exchange_channel(comm, &channel);
    if (!wrong)
        wrong = check_rank(channel, source, 1);
    if (!wrong)
        wrong = receive_in_turn(comm, source, tag, &plhs[0], &from);
    if (!wrong && nlhs > 1)
        plhs[1] = status_of_value(&from);
    return wrong;
}

/* [value, status] = c.recv(source, tag) */
static const char *value_recv(int nlhs, mxArray *plhs[], int nrhs, const mxArray *prhs[])
{
    MPI_Comm comm;
    int source, tag;
    const char *wrong = nrhs < 1 ? argument_problem("c.recv(source, tag) is wanted") : read_communicator(prhs[0], &comm);
    if (!wrong)
        wrong = read_ends(nrhs, prhs, 1, 1, &source, &tag);
    return wrong ? wrong : receive_from(comm, source, tag, nlhs, plhs);
}

static const char *value_irecv(int nlhs, mxArray *plhs[], int nrhs, const mxArray *prhs[])
{
    MPI_Comm comm;
    struct channel *channel;
    int source, tag;
    const char *wrong = nrhs < 1 ? argument_problem("c.irecv(source, tag) is wanted") : read_communicator(prhs[0], &comm);
    (void)nlhs;
    if (!wrong)
        wrong = read_ends(nrhs, prhs, 1, 1, &source, &tag);
    if (!wrong)
        wrong = exchange_channel(comm, &channel);
    if (!wrong)
        wrong = check_rank(channel, source, 1);
    if (!wrong)
        plhs[0] = value_request(comm, source, tag);
    return wrong;
}

/* [value, status] = c.sendrecv(value, dest, sendtag, source, recvtag).  Sends do not wait. */
static const char *value_sendrecv(int nlhs, mxArray *plhs[], int nrhs, const mxArray *prhs[])
{
    MPI_Comm comm;
    int dest, send_tag, source, receive_tag;
    const char *wrong = nrhs < 3 ? argument_problem("c.sendrecv(value, dest, sendtag, source, recvtag) is wanted")
                                 : read_communicator(prhs[0], &comm);
    if (!wrong)
        wrong = read_ends(nrhs < 4 ? nrhs : 4, prhs, 2, 0, &dest, &send_tag);
    if (!wrong)
        wrong = read_ends(nrhs, prhs, 4, 1, &source, &receive_tag);
    if (!wrong)
        wrong = send_one(comm, prhs[1], dest, send_tag);
    return wrong ? wrong : receive_from(comm, source, receive_tag, nlhs, plhs);
}

/* ---- encodings in memory ---- */

static struct outgoing collected;

static const char *encode(const mxArray *value, int in_one_piece)
{
    const char *wrong;
    collected.in_one_piece = in_one_piece;
    wrong = values_encode(&collected, 1, &value);
    if (!wrong)
        message_end(&collected.buffer, 1, (uint32_t)collected.payload_count, 0);
    return wrong;
}

static const char *decode(unsigned char *bytes, size_t count, mxArray **value, payload_source *source, void *context)
{
    struct byte_buffer view = {bytes, count, count, 0};
    const char *wrong = message_check(bytes, count);
    return wrong ? wrong : values_decode(&view, 1, value, source, context);
}

static const char *no_payload(void *context, void *to, uint64_t bytes)
{
    (void)context, (void)to, (void)bytes;
    return argument_problem("a value has a part that is not in its message");
}

/* ---- the first step of a collective ---- */

/* What travels with the length. */
enum { FIRST_BYTES = 1024 };

struct first {
    uint64_t bytes;
    unsigned char start[FIRST_BYTES - sizeof(uint64_t)];
};

/* In its first step a process waits for the others, and knows then that they are there: there control-C ends the wait.  The memory is of
   mxCalloc(), and stays for good in that case. */
struct step {
    enum { BROADCAST, GATHER, SCATTER, ALL_GATHER, ALL_TO_ALL, NEIGHBORS, AGREE } kind;
    void *from;
    void *to;
    int root;
    MPI_Comm comm;
};

static int run_step(void *context)
{
    const struct step *step = context;
    switch (step->kind) {
    case BROADCAST: return MPI_Bcast(step->to, FIRST_BYTES, MPI_BYTE, step->root, step->comm);
    case GATHER: return MPI_Gather(step->from, 1, MPI_COUNT, step->to, 1, MPI_COUNT, step->root, step->comm);
    case SCATTER: return MPI_Scatter(step->from, 1, MPI_COUNT, step->to, 1, MPI_COUNT, step->root, step->comm);
    case ALL_GATHER: return MPI_Allgather(step->from, 1, MPI_COUNT, step->to, 1, MPI_COUNT, step->comm);
    case ALL_TO_ALL: return MPI_Alltoall(step->from, 1, MPI_COUNT, step->to, 1, MPI_COUNT, step->comm);
    case NEIGHBORS: return MPI_Neighbor_alltoall(step->from, 1, MPI_COUNT, step->to, 1, MPI_COUNT, step->comm);
    default: return MPI_Allreduce(MPI_IN_PLACE, step->to, 2, MPI_INT64_T, MPI_MAX, step->comm);
    }
}

/* `memory` and `also` are what `step` uses, from their starts. */
static const char *first_step(struct step step, void *memory, void *also)
{
    struct step *kept;
    const char *wrong;
    int code = MPI_SUCCESS;
    if (!runs_apart(step.comm))
        return mpi_problem(run_step(&step), "a collective");
    kept = malloc(sizeof *kept);
    if (!kept)
        return argument_problem("out of memory for a collective");
    *kept = step;
    wrong = run_apart(run_step, kept, &code);
    if (!wrong) {
        free(kept);
        return mpi_problem(code, "a collective");
    }
    mexMakeMemoryPersistent(memory);
    if (also)
        mexMakeMemoryPersistent(also);
    return wrong;
}

/* ---- broadcast ---- */

/* Over an inter-communicator there are always two steps, since those who only say MPI_PROC_NULL have to make as many calls. */
struct broadcast {
    MPI_Comm comm;
    int root;
    int inter;
};

static const char *broadcast_payload(void *context, void *to, uint64_t bytes)
{
    const struct broadcast *broadcast = context;
    return mpi_problem(MPI_Bcast_c(to, (MPI_Count)bytes, MPI_BYTE, broadcast->root, broadcast->comm), "MPI_Bcast");
}

static const char *broadcast_out(struct broadcast *to, const mxArray *value)
{
    struct first *first;
    size_t used, start, k;
    const char *left, *wrong = encode(value, to->inter);
    if (wrong)
        return wrong;
    used = collected.buffer.used;
    first = mxCalloc(1, sizeof *first);
    start = used < sizeof first->start ? used : sizeof first->start;
    first->bytes = used;
    memcpy(first->start, collected.buffer.bytes, start);
    wrong = first_step((struct step){BROADCAST, NULL, first, to->root, to->comm}, first, NULL);
    if (!wrong && (used > start || to->inter))
        wrong = broadcast_payload(to, collected.buffer.bytes + start, used - start);
    for (k = 0; k < collected.payload_count && !wrong; k++) {
        left = broadcast_payload(to, (void *)collected.payloads[k].data, collected.payloads[k].bytes);
        wrong = wrong ? wrong : left;
    }
    outgoing_release_payloads(&collected);
    return wrong;
}

static const char *broadcast_in(struct broadcast *from, mxArray **value)
{
    struct first *first = mxCalloc(1, sizeof *first);
    const size_t room = sizeof first->start;
    unsigned char *bytes;
    const char *wrong = first_step((struct step){BROADCAST, NULL, first, from->root, from->comm}, first, NULL);
    if (wrong)
        return wrong;
    bytes = mxMalloc((size_t)first->bytes + 1);
    memcpy(bytes, first->start, first->bytes < room ? first->bytes : room);
    if (first->bytes > room)
        wrong = broadcast_payload(from, bytes + room, first->bytes - room);
    else if (from->inter)
        wrong = broadcast_payload(from, bytes, 0);
    return wrong ? wrong : decode(bytes, (size_t)first->bytes, value, broadcast_payload, from);
}

/* Whether this process gives, 1, takes, 0, or is in the root's group of an inter-communicator and does neither, -1. */
static const char *role(MPI_Comm comm, int root, int *gives)
{
    int rank, inter = 0, size;
    MPI_Comm_test_inter(comm, &inter);
    if (inter) {
        *gives = root == MPI_ROOT ? 1 : root == MPI_PROC_NULL ? -1 : 0;
        return NULL;
    }
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    *gives = rank == root;
    return root >= 0 && root < size ? NULL : rank_problem(root, size);
}

static const char *read_root(int nrhs, const mxArray *prhs[], int at, int *root)
{
    *root = 0;
    return nrhs > at && !mxIsEmpty(prhs[at]) ? read_number(prhs[at], "root", root) : NULL;
}

/* By those of the root's group who are not the root. */
static const char *broadcast_aside(struct broadcast *aside)
{
    const char *wrong = broadcast_payload(aside, NULL, 0);
    return wrong ? wrong : broadcast_payload(aside, NULL, 0);
}

/* value = c.bcast(value, root) */
static const char *value_bcast(int nlhs, mxArray *plhs[], int nrhs, const mxArray *prhs[])
{
    struct broadcast broadcast;
    int gives;
    const char *wrong = nrhs < 1 ? argument_problem("c.bcast(value, root) is wanted") : read_communicator(prhs[0], &broadcast.comm);
    (void)nlhs;
    if (!wrong)
        wrong = read_root(nrhs, prhs, 2, &broadcast.root);
    if (!wrong)
        wrong = role(broadcast.comm, broadcast.root, &gives);
    if (!wrong)
        MPI_Comm_test_inter(broadcast.comm, &broadcast.inter);
    if (!wrong && gives == 1 && nrhs < 2)
        wrong = argument_problem("the root has nothing to broadcast");
    if (wrong)
        return wrong;
    if (gives == 0)
        return broadcast_in(&broadcast, &plhs[0]);
    if (gives == 1)
        wrong = broadcast_out(&broadcast, prhs[1]);
    else
        wrong = broadcast_aside(&broadcast);
    if (!wrong)
        plhs[0] = gives == 1 ? same_value(prhs[1]) : empty();
    return wrong;
}

/* ---- gather, scatter, all to all ---- */

/* Encodings side by side, one for each process.  Behind the counts is the length of this process's own. */
struct parts {
    unsigned char *bytes;
    MPI_Count *counts;
    MPI_Aint *displacements;
    int size;
};

static int size_of(MPI_Comm comm)
{
    int inter = 0, size = 0;
    MPI_Comm_test_inter(comm, &inter);
    if (inter)
        MPI_Comm_remote_size(comm, &size);
    else
        MPI_Comm_size(comm, &size);
    return size;
}

static void make_parts(struct parts *parts, int size)
{
    parts->size = size;
    parts->counts = mxCalloc((size_t)size + 1, sizeof *parts->counts);
    parts->displacements = mxCalloc((size_t)size + 1, sizeof *parts->displacements);
    parts->bytes = NULL;
}

/* Memory for what the counts announce. */
static void lay_out(struct parts *parts)
{
    int i;
    for (i = 0; i < parts->size; i++)
        parts->displacements[i + 1] = parts->displacements[i] + (MPI_Aint)parts->counts[i];
    parts->bytes = mxMalloc((size_t)parts->displacements[parts->size] + 1);
}

/* Where nothing has come, from a neighbour that does not exist, the value is []. */
static const char *values_of_parts(const struct parts *parts, mxArray **cell)
{
    const char *wrong = NULL;
    int i;
    *cell = mxCreateCellMatrix(1, (mwSize)parts->size);
    for (i = 0; i < parts->size && !wrong; i++) {
        mxArray *value = NULL;
        if (parts->counts[i] == 0)
            value = empty();
        else
            wrong = decode(parts->bytes + parts->displacements[i], (size_t)parts->counts[i], &value, no_payload, NULL);
        if (!wrong)
            mxSetCell(*cell, (mwSize)i, value);
    }
    return wrong;
}

static const char *parts_of_values(const mxArray *cell, int size, struct parts *parts)
{
    struct byte_buffer all;
    const char *wrong = NULL;
    int i;
    memset(&all, 0, sizeof all);
    make_parts(parts, size);
    if (!mxIsCell(cell) || (int)mxGetNumberOfElements(cell) != size)
        return argument_problem("a cell with one value for each of the %d processes is wanted", size);
    for (i = 0; i < size && !wrong; i++) {
        const mxArray *value = mxGetCell(cell, (mwSize)i);
        mxArray *none = value ? NULL : empty();
        wrong = encode(value ? value : none, 1);
        parts->counts[i] = (MPI_Count)collected.buffer.used;
        parts->displacements[i + 1] = parts->displacements[i] + (MPI_Aint)collected.buffer.used;
        if (!wrong)
            buffer_put(&all, collected.buffer.bytes, collected.buffer.used);
    }
    if (!wrong && all.failed)
        wrong = argument_problem("out of memory for %d values", size);
    parts->bytes = mxMalloc(all.used + 1);
    memcpy(parts->bytes, all.bytes, wrong ? 0 : all.used);
    buffer_free(&all);
    return wrong;
}

static const char *gather(MPI_Comm comm, const mxArray *value, int root, int gives, mxArray **cell)
{
    struct parts parts;
    MPI_Count *own;
    const char *wrong = gives <= 0 || root != MPI_ROOT ? encode(value, 1) : NULL;
    if (wrong)
        return wrong;
    make_parts(&parts, size_of(comm));
    own = &parts.counts[parts.size];
    *own = (MPI_Count)collected.buffer.used;
    wrong = first_step((struct step){GATHER, own, parts.counts, root, comm}, parts.counts, NULL);
    if (wrong)
        return wrong;
    if (gives == 1)
        lay_out(&parts);
    wrong = mpi_problem(MPI_Gatherv_c(collected.buffer.bytes, *own, MPI_BYTE, parts.bytes, parts.counts, parts.displacements,
                                      MPI_BYTE, root, comm), "MPI_Gatherv");
    if (!wrong && gives == 1)
        return values_of_parts(&parts, cell);
    if (!wrong)
        *cell = empty();
    return wrong;
}

/* cell = c.gather(value, root): [] at others. */
static const char *value_gather(int nlhs, mxArray *plhs[], int nrhs, const mxArray *prhs[])
{
    MPI_Comm comm;
    int root, gives;
    const char *wrong = nrhs < 2 ? argument_problem("c.gather(value, root) is wanted") : read_communicator(prhs[0], &comm);
    (void)nlhs;
    if (!wrong)
        wrong = read_root(nrhs, prhs, 2, &root);
    if (!wrong)
        wrong = role(comm, root, &gives);
    return wrong ? wrong : gather(comm, prhs[1], root, gives, &plhs[0]);
}

static const char *allgather(MPI_Comm comm, const mxArray *value, mxArray **cell)
{
    struct parts parts;
    MPI_Count *own;
    const char *wrong = encode(value, 1);
    if (wrong)
        return wrong;
    make_parts(&parts, size_of(comm));
    own = &parts.counts[parts.size];
    *own = (MPI_Count)collected.buffer.used;
    wrong = first_step((struct step){ALL_GATHER, own, parts.counts, 0, comm}, parts.counts, NULL);
    if (wrong)
        return wrong;
    lay_out(&parts);
    wrong = mpi_problem(MPI_Allgatherv_c(collected.buffer.bytes, *own, MPI_BYTE, parts.bytes, parts.counts, parts.displacements,
                                         MPI_BYTE, comm), "MPI_Allgatherv");
    return wrong ? wrong : values_of_parts(&parts, cell);
}

static const char *value_allgather(int nlhs, mxArray *plhs[], int nrhs, const mxArray *prhs[])
{
    MPI_Comm comm;
    const char *wrong = nrhs < 2 ? argument_problem("c.allgather(value) is wanted") : read_communicator(prhs[0], &comm);
    (void)nlhs;
    return wrong ? wrong : allgather(comm, prhs[1], &plhs[0]);
}

/* value = c.scatter(cell, root) */
static const char *value_scatter(int nlhs, mxArray *plhs[], int nrhs, const mxArray *prhs[])
{
    struct parts parts = {NULL, NULL, NULL, 0};
    MPI_Comm comm;
    MPI_Count *own;
    unsigned char *bytes;
    int root, gives;
    const char *wrong = nrhs < 1 ? argument_problem("c.scatter(cell, root) is wanted") : read_communicator(prhs[0], &comm);
    (void)nlhs;
    if (!wrong)
        wrong = read_root(nrhs, prhs, 2, &root);
    if (!wrong)
        wrong = role(comm, root, &gives);
    if (!wrong && gives == 1)
        wrong = nrhs < 2 ? argument_problem("the root has nothing to scatter") : parts_of_values(prhs[1], size_of(comm), &parts);
    if (wrong)
        return wrong;
    if (gives != 1)
        make_parts(&parts, 0);
    own = &parts.counts[parts.size];
    wrong = first_step((struct step){SCATTER, parts.counts, own, root, comm}, parts.counts, NULL);
    if (wrong)
        return wrong;
    bytes = mxMalloc((size_t)*own + 1);
    wrong = mpi_problem(MPI_Scatterv_c(parts.bytes, parts.counts, parts.displacements, MPI_BYTE, bytes, *own, MPI_BYTE, root, comm),
                        "MPI_Scatterv");
    if (wrong)
        return wrong;
    if (*own)
        return decode(bytes, (size_t)*own, &plhs[0], no_payload, NULL);
    plhs[0] = empty();
    return NULL;
}

/* cell = c.alltoall(cell) */
static const char *value_alltoall(int nlhs, mxArray *plhs[], int nrhs, const mxArray *prhs[])
{
    struct parts sent, received;
    MPI_Comm comm;
    const char *wrong = nrhs < 2 ? argument_problem("c.alltoall(cell) is wanted") : read_communicator(prhs[0], &comm);
    (void)nlhs;
    if (!wrong)
        wrong = parts_of_values(prhs[1], size_of(comm), &sent);
    if (wrong)
        return wrong;
    make_parts(&received, sent.size);
    wrong = first_step((struct step){ALL_TO_ALL, sent.counts, received.counts, 0, comm}, sent.counts, received.counts);
    if (wrong)
        return wrong;
    lay_out(&received);
    wrong = mpi_problem(MPI_Alltoallv_c(sent.bytes, sent.counts, sent.displacements, MPI_BYTE, received.bytes, received.counts,
                                        received.displacements, MPI_BYTE, comm), "MPI_Alltoallv");
    return wrong ? wrong : values_of_parts(&received, &plhs[0]);
}

/* Of neighbours: what is for each of them is in `sent`, side by side or, for all the same, once. */
static const char *to_neighbors(MPI_Comm comm, struct parts *sent, mxArray **cell)
{
    struct parts received;
    const char *wrong;
    make_parts(&received, source_count(comm));
    wrong = first_step((struct step){NEIGHBORS, sent->counts, received.counts, 0, comm}, sent->counts, received.counts);
    if (wrong)
        return wrong;
    lay_out(&received);
    wrong = mpi_problem(MPI_Neighbor_alltoallv_c(sent->bytes, sent->counts, sent->displacements, MPI_BYTE, received.bytes,
                                                 received.counts, received.displacements, MPI_BYTE, comm), "MPI_Neighbor_alltoallv");
    return wrong ? wrong : values_of_parts(&received, cell);
}

static const char *read_neighborhood(int nrhs, const mxArray *prhs[], const char *wanted, MPI_Comm *comm)
{
    int kind = MPI_UNDEFINED;
    const char *wrong = nrhs < 2 ? argument_problem("%s is wanted", wanted) : read_communicator(prhs[0], comm);
    if (!wrong)
        wrong = mpi_problem(MPI_Topo_test(*comm, &kind), "MPI_Topo_test");
    return !wrong && kind == MPI_UNDEFINED ? mpi_problem(MPI_ERR_TOPOLOGY, wanted) : wrong;
}

/* cell = c.neighborAllgather(value) */
static const char *value_neighbor_allgather(int nlhs, mxArray *plhs[], int nrhs, const mxArray *prhs[])
{
    struct parts sent;
    MPI_Comm comm;
    int i;
    const char *wrong = read_neighborhood(nrhs, prhs, "c.neighborAllgather(value)", &comm);
    (void)nlhs;
    if (!wrong)
        wrong = encode(prhs[1], 1);
    if (wrong)
        return wrong;
    make_parts(&sent, destination_count(comm));
    for (i = 0; i < sent.size; i++)
        sent.counts[i] = (MPI_Count)collected.buffer.used;
    sent.bytes = collected.buffer.bytes;
    return to_neighbors(comm, &sent, &plhs[0]);
}

/* cell = c.neighborAlltoall(cell) */
static const char *value_neighbor_alltoall(int nlhs, mxArray *plhs[], int nrhs, const mxArray *prhs[])
{
    struct parts sent;
    MPI_Comm comm;
    const char *wrong = read_neighborhood(nrhs, prhs, "c.neighborAlltoall(cell)", &comm);
    (void)nlhs;
    if (!wrong)
        wrong = parts_of_values(prhs[1], destination_count(comm), &sent);
    return wrong ? wrong : to_neighbors(comm, &sent, &plhs[0]);
}

/* ---- reductions ---- */

/* The language's functions for the names of operations. */
static const struct { const char *name, *function; } FUNCTIONS[] = {
    {"+", "plus"},   {"sum", "plus"},   {"*", "times"},  {"prod", "times"}, {"&", "and"},
    {"all", "and"},  {"|", "or"},       {"any", "or"},   {"maxloc", "mpi.maxloc"}, {"minloc", "mpi.minloc"},
};

static const char *function_of(const mxArray *op, char *name, size_t room)
{
    size_t i;
    if (!op)
        strcpy(name, "plus");
    else if (mxIsChar(op))
        mxGetString(op, name, room);
    else if (is_object_of(op, "mpi.Op")) {
        mxArray *property = mxGetProperty(op, 0, "name");
        mxGetString(property, name, room);
        mxDestroyArray(property);
    } else
        return argument_problem("an operation is a name, an mpi.Op or a function handle, not a %s", mxGetClassName(op));
    for (i = 0; i < sizeof FUNCTIONS / sizeof FUNCTIONS[0]; i++)
        if (strcmp(FUNCTIONS[i].name, name) == 0)
            strcpy(name, FUNCTIONS[i].function);
    return NULL;
}

static int is_function(const mxArray *op)
{
    return op && mxGetClassID(op) == mxFUNCTION_CLASS;
}

/* first, f(first, second), ...: of `count` values in the order of ranks. */
static const char *fold(const mxArray *cell, int count, const mxArray *op, mxArray **result)
{
    char name[64];
    const char *wrong = is_function(op) ? NULL : function_of(op, name, sizeof name);
    mxArray *folded, *arguments[3];
    int i, first = is_function(op) ? 0 : 1;
    if (wrong)
        return wrong;
    if (count == 0) {
        *result = empty();
        return NULL;
    }
    folded = same_value(mxGetCell(cell, 0));
    arguments[0] = (mxArray *)op;
    for (i = 1; i < count; i++) {
        arguments[1] = folded;
        arguments[2] = mxGetCell(cell, (mwSize)i);
        folded = NULL;
        mexCallMATLAB(1, &folded, 3 - first, arguments + first, first ? name : "feval");
        mxDestroyArray(arguments[1]);
    }
    *result = folded;
    return NULL;
}

/* MPI's operation if it computes as the language does on these elements. */
static int mpi_operation(const mxArray *value, const mxArray *op, MPI_Op *found)
{
    MPI_Op chosen = MPI_SUM;
    if (is_function(op) || mxIsSparse(value) || type_of_elements(value) == MPI_DATATYPE_NULL || mxIsChar(value))
        return 0;
    if (op && read_operation(op, &chosen))
        return 0;
    *found = language_operation(chosen, type_of_elements(value));
    return *found != MPI_OP_NULL;
}

enum reduction { TO_ROOT, TO_ALL, SCAN, EXCLUSIVE_SCAN };

static const char *reduce_array(MPI_Comm comm, const mxArray *value, MPI_Op op, enum reduction kind, int root, mxArray **result)
{
    mxArray *array = array_of(mxGetClassID(value), mxIsComplex(value), mxGetNumberOfDimensions(value), mxGetDimensions(value), 0);
    const void *from = mxGetData(value);
    void *to = mxGetData(array);
    MPI_Count count = (MPI_Count)mxGetNumberOfElements(value);
    MPI_Datatype type = type_of_elements(value);
    int rank, code, nothing = 0;
    MPI_Comm_rank(comm, &rank);
    if (kind == TO_ROOT) {
        code = MPI_Reduce_c(from, to, count, type, op, root, comm);
        nothing = rank != root;
    } else if (kind == TO_ALL) {
        code = MPI_Allreduce_c(from, to, count, type, op, comm);
    } else if (kind == SCAN) {
        code = MPI_Scan_c(from, to, count, type, op, comm);
    } else {
        code = MPI_Exscan_c(from, to, count, type, op, comm);
        nothing = rank == 0;
    }
    if (nothing)
        mxDestroyArray(array);
    *result = nothing ? empty() : array;
    return mpi_problem(code, "a reduction");
}

static const char *reduce_values(MPI_Comm comm, const mxArray *value, const mxArray *op, enum reduction kind, int root,
                                 mxArray **result)
{
    mxArray *cell = NULL;
    const char *wrong;
    int rank, gives, count = size_of(comm);
    MPI_Comm_rank(comm, &rank);
    if (kind == TO_ROOT) {
        wrong = role(comm, root, &gives);
        if (!wrong)
            wrong = gather(comm, value, root, gives, &cell);
        if (!wrong && gives != 1)
            count = 0;
    } else {
        wrong = allgather(comm, value, &cell);
        if (kind == SCAN)
            count = rank + 1;
        else if (kind == EXCLUSIVE_SCAN)
            count = rank;
    }
    return wrong ? wrong : fold(cell, count, op, result);
}

/* Whether all processes have arrays of one class, complexity and size, so that MPI can reduce them.  What only some have, such as sparse
   arrays or complex ones that the language has made real, the language computes. */
static const char *agree(MPI_Comm comm, const mxArray *value, int usable, int *all)
{
    int64_t *kind = mxCalloc(2, sizeof *kind);
    mwSize i;
    const char *wrong;
    kind[0] = usable ? 1 + mxGetClassID(value) * 2 + mxIsComplex(value) : 0;
    for (i = 0; usable && i < mxGetNumberOfDimensions(value); i++)
        kind[0] = (int64_t)(((uint64_t)kind[0] * 1000003u + mxGetDimensions(value)[i]) & INT64_MAX);
    kind[1] = -kind[0];
    wrong = first_step((struct step){AGREE, NULL, kind, 0, comm}, kind, NULL);
    *all = usable && kind[0] == -kind[1];
    return wrong;
}

static const char *reduce(int nrhs, const mxArray *prhs[], enum reduction kind, mxArray **result)
{
    MPI_Comm comm;
    MPI_Op found;
    int root = 0, inter = 0, usable;
    const mxArray *op = nrhs > 2 && !(mxIsEmpty(prhs[2]) && mxIsNumeric(prhs[2])) ? prhs[2] : NULL;
    const char *wrong = nrhs < 2 ? argument_problem("a value to reduce is missing") : read_communicator(prhs[0], &comm);
    if (!wrong && kind == TO_ROOT)
        wrong = read_root(nrhs, prhs, 3, &root);
    if (wrong)
        return wrong;
    MPI_Comm_test_inter(comm, &inter);
    if (inter && (kind == SCAN || kind == EXCLUSIVE_SCAN))
        return argument_problem("there is no scan over an inter-communicator");
    if (!inter && !is_function(op)) {
        wrong = agree(comm, prhs[1], mpi_operation(prhs[1], op, &found), &usable);
        if (wrong || usable)
            return wrong ? wrong : reduce_array(comm, prhs[1], found, kind, root, result);
    }
    return reduce_values(comm, prhs[1], op, kind, root, result);
}

/* result = c.reduce(value, op, root): [] at others. */
static const char *value_reduce(int nlhs, mxArray *plhs[], int nrhs, const mxArray *prhs[])
{
    (void)nlhs;
    return reduce(nrhs, prhs, TO_ROOT, &plhs[0]);
}

static const char *value_allreduce(int nlhs, mxArray *plhs[], int nrhs, const mxArray *prhs[])
{
    (void)nlhs;
    return reduce(nrhs, prhs, TO_ALL, &plhs[0]);
}

static const char *value_scan(int nlhs, mxArray *plhs[], int nrhs, const mxArray *prhs[])
{
    (void)nlhs;
    return reduce(nrhs, prhs, SCAN, &plhs[0]);
}

/* [] at rank 0. */
static const char *value_exscan(int nlhs, mxArray *plhs[], int nrhs, const mxArray *prhs[])
{
    (void)nlhs;
    return reduce(nrhs, prhs, EXCLUSIVE_SCAN, &plhs[0]);
}

/* postrider_call('checkValue', value): an error says what of it cannot be sent. */
static const char *check_value(int nlhs, mxArray *plhs[], int nrhs, const mxArray *prhs[])
{
    const char *wrong = nrhs < 1 ? argument_problem("a value is missing") : encode(prhs[0], 0);
    (void)nlhs, (void)plhs;
    outgoing_release_payloads(&collected);
    return wrong;
}

const struct operation value_operations[] = {
    {"checkValue", check_value, 0},
    {"Comm.send", value_send, 0},
    {"Comm.recv", value_recv, 2},
    {"Comm.isend", value_isend, 1},
    {"Comm.irecv", value_irecv, 1},
    {"Comm.sendrecv", value_sendrecv, 2},
    {"Comm.bcast", value_bcast, 1},
    {"Comm.gather", value_gather, 1},
    {"Comm.scatter", value_scatter, 1},
    {"Comm.allgather", value_allgather, 1},
    {"Comm.alltoall", value_alltoall, 1},
    {"Comm.neighborAllgather", value_neighbor_allgather, 1},
    {"Comm.neighborAlltoall", value_neighbor_alltoall, 1},
    {"Comm.reduce", value_reduce, 1},
    {"Comm.allreduce", value_allreduce, 1},
    {"Comm.scan", value_scan, 1},
    {"Comm.exscan", value_exscan, 1},
    {NULL, NULL, 0},
};
