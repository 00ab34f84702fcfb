/* requests.c: mpi.Request (section 3.7 of the standard).
 *
 * The object holds the addresses of pending operations; several requests in brackets are one object with several of them.  A pending
 * operation keeps the arrays that MPI reads and writes, and gives what it received to the first wait that completes it.
 *
 * A request for values (Comm.irecv) is no request of MPI's, since nobody knows how long the message will be.  It is matched when the
 * program waits or tests: requests of one communicator in the order in which they were made, which is MPI's order of matching.
 */
#include "call.h"
#include "mex_shared.h"
#include "problem.h"

#include <stdlib.h>
#include <string.h>

struct pending {
    MPI_Request request;
    MPI_Status status;
    struct call call;
    /* The place of what is received, or -1. */
    int received;
    int persistent;
    enum { ACTIVE, COMPLETE, TAKEN } complete;
    /* Objects of the language that hold it. */
    int references;
    /* Of a request for values. */
    int of_values;
    MPI_Comm comm;
    int source;
    int tag;
    mxArray *value;
    /* A communicator that the operation makes. */
    MPI_Comm made;
    struct pending *next;
};

/* Requests for values that have matched nothing yet, oldest first. */
static struct pending *unmatched_first;

static mxArray *no_value(void)
{
    return mxCreateDoubleMatrix(0, 0, mxREAL);
}

mxArray *request_object(struct call *call, MPI_Request request, int received, int persistent)
{
    struct pending *pending = calloc(1, sizeof *pending);
    double handle = (double)(uintptr_t)pending;
    if (!pending) {
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        return no_value();
    }
    pending->request = request;
    pending->made = MPI_COMM_NULL;
    pending->call = *call;
    pending->received = received;
    pending->persistent = persistent;
    pending->complete = persistent ? TAKEN : ACTIVE;
    pending->references = 1;
    call->owned_count = call->has_info = 0;
    memset(&call->keeping, 0, sizeof call->keeping);
    return object_of("mpi.Request", 1, &handle);
}

mxArray *value_request(MPI_Comm comm, int source, int tag)
{
    struct pending *pending = calloc(1, sizeof *pending), **link = &unmatched_first;
    double handle = (double)(uintptr_t)pending;
    if (!pending)
        return no_value();
    pending->of_values = 1;
    pending->references = 1;
    pending->request = MPI_REQUEST_NULL;
    pending->made = MPI_COMM_NULL;
    pending->received = -1;
    pending->comm = comm;
    pending->source = source;
    pending->tag = tag;
    while (*link)
        link = &(*link)->next;
    *link = pending;
    return object_of("mpi.Request", 1, &handle);
}

mxArray *completed_request(void)
{
    struct pending *pending = calloc(1, sizeof *pending);
    double handle = (double)(uintptr_t)pending;
    if (!pending)
        return no_value();
    pending->references = 1;
    pending->complete = COMPLETE;
    pending->request = MPI_REQUEST_NULL;
    pending->made = MPI_COMM_NULL;
    pending->received = -1;
    return object_of("mpi.Request", 1, &handle);
}

/* r = c.idup(), c.idupWithInfo(info): the wait gives the communicator. */
static const char *duplicate(mxArray *plhs[], int nrhs, const mxArray *prhs[], int with_info)
{
    struct pending *pending = calloc(1, sizeof *pending);
    double handle = (double)(uintptr_t)pending;
    MPI_Comm comm;
    MPI_Info info = MPI_INFO_NULL;
    const char *wrong = nrhs < 1 + with_info || !pending ? argument_problem("c.idup() or c.idupWithInfo(info) is wanted")
                                                         : read_communicator(prhs[0], &comm);
    if (!wrong && with_info)
        wrong = read_info(&pending->call, prhs[1], &info);
    if (!wrong)
        wrong = mpi_problem(with_info ? MPI_Comm_idup_with_info(comm, info, &pending->made, &pending->request)
                                      : MPI_Comm_idup(comm, &pending->made, &pending->request), "Comm.idup");
    if (pending)
        call_release(&pending->call);
    if (wrong) {
        free(pending);
        return wrong;
    }
    pending->received = -1;
    pending->references = 1;
    plhs[0] = object_of("mpi.Request", 1, &handle);
    return NULL;
}

static const char *comm_idup(int nlhs, mxArray *plhs[], int nrhs, const mxArray *prhs[])
{
    (void)nlhs;
    return duplicate(plhs, nrhs, prhs, 0);
}

static const char *comm_idup_with_info(int nlhs, mxArray *plhs[], int nrhs, const mxArray *prhs[])
{
    (void)nlhs;
    return duplicate(plhs, nrhs, prhs, 1);
}

/* ---- requests for values ---- */

static void unlink_pending(const struct pending *pending)
{
    struct pending **link = &unmatched_first;
    while (*link && *link != pending)
        link = &(*link)->next;
    if (*link)
        *link = pending->next;
}

static int could_match(const struct pending *pending, MPI_Comm comm, int source, int tag)
{
    return pending->comm == comm &&
           (source == MPI_ANY_SOURCE || pending->source == MPI_ANY_SOURCE || source == pending->source) &&
           (tag == MPI_ANY_TAG || pending->tag == MPI_ANY_TAG || tag == pending->tag);
}

static const char *receive_for(struct pending *pending)
{
    struct waiting from;
    mxArray *value = NULL;
    const char *wrong = wait_for_value_message(pending->comm, pending->source, pending->tag);
    if (wrong)
        return wrong;
    /* An error, after which the request is still open. */
    if (is_own(pending->comm, pending->source) && !value_is_waiting(pending->comm, pending->source, pending->tag, &from))
        return receive_value(pending->comm, pending->source, pending->tag, 1, &value, &from);
    unlink_pending(pending);
    pending->complete = COMPLETE;
    wrong = receive_value(pending->comm, pending->source, pending->tag, 1, &value, &from);
    if (wrong)
        return wrong;
    mexMakeArrayPersistent(value);
    pending->value = value;
    memset(&pending->status, 0, sizeof pending->status);
    pending->status.MPI_SOURCE = from.source;
    pending->status.MPI_TAG = from.tag;
    MPI_Status_set_elements_c(&pending->status, MPI_BYTE, (MPI_Count)from.bytes);
    return NULL;
}

/* The oldest request that matches. */
static struct pending *requested_first(MPI_Comm comm, int source, int tag)
{
    struct pending *pending;
    for (pending = unmatched_first; pending; pending = pending->next)
        if (could_match(pending, comm, source, tag))
            return pending;
    return NULL;
}

int is_requested(MPI_Comm comm, int source, int tag)
{
    return requested_first(comm, source, tag) != NULL;
}

/* A message may come while this goes on: then an older request than the one that found it gets it. */
const char *advance_value_requests(void)
{
    struct pending *pending = unmatched_first, *next, *oldest;
    struct waiting found;
    const char *wrong = NULL;
    for (; pending && !wrong; pending = next) {
        next = pending->next;
        while (!wrong && !pending->complete && value_is_waiting(pending->comm, pending->source, pending->tag, &found)) {
            oldest = requested_first(pending->comm, found.source, found.tag);
            wrong = receive_for(oldest ? oldest : pending);
        }
    }
    return wrong;
}

/* Whether a request made earlier may want the message that this one waits for. */
static int has_rival(const struct pending *wanted)
{
    const struct pending *pending;
    for (pending = unmatched_first; pending && pending != wanted; pending = pending->next)
        if (could_match(pending, wanted->comm, wanted->source, wanted->tag))
            return 1;
    return 0;
}

static const char *wait_for_value(struct pending *pending)
{
    const char *wrong = NULL;
    int turns = 0;
    while (!pending->complete && !wrong) {
        if (!has_rival(pending))
            return receive_for(pending);
        wrong = advance_value_requests();
        if (wrong || pending->complete)
            return wrong;
        if (is_own(pending->comm, pending->source))
            return receive_for(pending);
        wrong = pause_a_little(&turns);
    }
    return wrong;
}

/* ---- completion ---- */

static const char *finish(struct pending *pending, int code, const char *call)
{
    pending->complete = COMPLETE;
    return mpi_problem(code, call);
}

static const char *test_for(struct pending *pending)
{
    int done = 0, code;
    if (pending->complete)
        return NULL;
    if (pending->of_values)
        return advance_value_requests();
    code = MPI_Test(&pending->request, &done, &pending->status);
    return done || code != MPI_SUCCESS ? finish(pending, code, "MPI_Test") : NULL;
}

static const char *wait_for(struct pending *pending)
{
    const char *wrong = NULL;
    int turns = 0;
    if (pending->complete)
        return NULL;
    if (pending->of_values)
        return wait_for_value(pending);
    while (waits_can_end() && !pending->complete && !wrong) {
        wrong = test_for(pending);
        if (!wrong && !pending->complete)
            wrong = pause_a_little(&turns);
    }
    if (wrong || pending->complete)
        return wrong;
    return finish(pending, MPI_Wait(&pending->request, &pending->status), "MPI_Wait");
}

/* What was received, once; later [] like a request that is null. */
static mxArray *take_value(struct pending *pending)
{
    mxArray *value = pending->value;
    struct buffer *buffer;
    pending->complete = TAKEN;
    if (value) {
        pending->value = NULL;
        value = same_value(value);
        return value;
    }
    if (pending->made != MPI_COMM_NULL)
        return communicator_object(pending->made);
    if (pending->received < 0)
        return no_value();
    buffer = &pending->call.at[pending->received].buffer;
    if (!buffer->array && !buffer->object)
        return no_value();
    return take_received(buffer, &pending->status);
}

void requests_forget(MPI_Comm comm)
{
    struct pending *pending = unmatched_first, *next;
    for (; pending; pending = next) {
        next = pending->next;
        if (pending->comm != comm)
            continue;
        unlink_pending(pending);
        pending->complete = COMPLETE;
        MPI_Status_set_cancelled(&pending->status, 1);
    }
}

/* Operations that no object holds any more, and that MPI has not finished with. */
static struct pending *abandoned_first;

static int is_over(struct pending *pending)
{
    int done = 1;
    if (pending->request == MPI_REQUEST_NULL)
        return 1;
    /* Of a persistent request that is not active, too. */
    MPI_Test(&pending->request, &done, MPI_STATUS_IGNORE);
    if (done && pending->request != MPI_REQUEST_NULL)
        MPI_Request_free(&pending->request);
    return done;
}

static void free_pending(struct pending *pending)
{
    if (pending->value)
        mxDestroyArray(pending->value);
    if (pending->received >= 0 && pending->call.at[pending->received].buffer.array)
        mxDestroyArray(pending->call.at[pending->received].buffer.array);
    call_release(&pending->call);
    free(pending);
}

static void free_abandoned(void)
{
    struct pending **link = &abandoned_first;
    int finalized = 0;
    MPI_Finalized(&finalized);
    while (*link && !finalized) {
        struct pending *pending = *link;
        if (!is_over(pending)) {
            link = &pending->next;
            continue;
        }
        *link = pending->next;
        free_pending(pending);
    }
}

static void release(struct pending *pending)
{
    if (--pending->references > 0)
        return;
    if (pending->of_values)
        unlink_pending(pending);
    pending->next = abandoned_first;
    abandoned_first = pending;
    free_abandoned();
}

/* ---- lists of requests ---- */

struct requests {
    struct pending **of;
    int count;
};

static const char *add_requests(const mxArray *object, struct requests *requests)
{
    mxArray *handles = is_object_of(object, "mpi.Request") ? mxGetProperty(object, 0, "handle") : NULL;
    mwSize count, i;
    if (!handles)
        return argument_problem("a request is wanted, of class mpi.Request, not a %s", mxGetClassName(object));
    count = mxGetNumberOfElements(handles);
    requests->of = mxRealloc(requests->of, ((size_t)requests->count + count + 1) * sizeof *requests->of);
    for (i = 0; i < count; i++)
        requests->of[requests->count++] = (struct pending *)(uintptr_t)mxGetDoubles(handles)[i];
    mxDestroyArray(handles);
    if (count == 1 && !requests->of[requests->count - 1])
        return argument_problem("this mpi.Request has been deleted");
    return NULL;
}

/* Objects, cells of them, and empty arrays, which stand for completed requests of sends. */
static const char *read_requests(int nrhs, const mxArray *prhs[], struct requests *requests)
{
    const char *wrong = NULL;
    mwSize i;
    int k;
    requests->of = mxMalloc(sizeof *requests->of);
    requests->count = 0;
    for (k = 0; k < nrhs && !wrong; k++) {
        if (mxIsCell(prhs[k]))
            for (i = 0; i < (mwSize)mxGetNumberOfElements(prhs[k]) && !wrong; i++)
                wrong = add_requests(mxGetCell(prhs[k], i), requests);
        else
            wrong = add_requests(prhs[k], requests);
    }
    return wrong;
}

const char *read_request(const mxArray *value, MPI_Request *request)
{
    struct requests requests;
    const char *wrong = read_requests(1, &value, &requests);
    if (!wrong && requests.count != 1)
        wrong = argument_problem("one request is wanted, not %d", requests.count);
    if (!wrong)
        *request = requests.of[0]->request;
    return wrong;
}

static mxArray *statuses_of(const struct requests *requests, const int *chosen, int count)
{
    mxArray *cell = mxCreateCellMatrix(1, (mwSize)count);
    int i;
    for (i = 0; i < count; i++)
        mxSetCell(cell, (mwSize)i, status_object(&requests->of[chosen ? chosen[i] : i]->status));
    return cell;
}

static mxArray *values_of(const struct requests *requests, const int *chosen, int count)
{
    mxArray *cell = mxCreateCellMatrix(1, (mwSize)count);
    int i;
    for (i = 0; i < count; i++)
        mxSetCell(cell, (mwSize)i, take_value(requests->of[chosen ? chosen[i] : i]));
    return cell;
}

static const char *test_all(const struct requests *requests, int *complete)
{
    const char *wrong = NULL;
    int i;
    *complete = 0;
    for (i = 0; i < requests->count && !wrong; i++) {
        wrong = test_for(requests->of[i]);
        *complete += requests->of[i]->complete != ACTIVE;
    }
    return wrong;
}

/* ---- operations ---- */

static const char *wait_for_all(int nrhs, const mxArray *prhs[], struct requests *requests)
{
    const char *wrong = read_requests(nrhs, prhs, requests);
    int i;
    for (i = 0; !wrong && i < requests->count; i++)
        wrong = wait_for(requests->of[i]);
    return wrong;
}

/* [value, status] = r.wait(): of one request its value, of several a cell of them. */
static const char *request_wait(int nlhs, mxArray *plhs[], int nrhs, const mxArray *prhs[])
{
    struct requests requests;
    const char *wrong = wait_for_all(nrhs, prhs, &requests);
    if (wrong)
        return wrong;
    plhs[0] = requests.count == 1 ? take_value(requests.of[0]) : values_of(&requests, NULL, requests.count);
    if (nlhs > 1)
        plhs[1] = requests.count == 1 ? status_object(&requests.of[0]->status) : statuses_of(&requests, NULL, requests.count);
    return NULL;
}

/* [values, statuses] = mpi.waitall(requests, ...): always cells. */
static const char *wait_all(int nlhs, mxArray *plhs[], int nrhs, const mxArray *prhs[])
{
    struct requests requests;
    const char *wrong = wait_for_all(nrhs, prhs, &requests);
    if (wrong)
        return wrong;
    plhs[0] = values_of(&requests, NULL, requests.count);
    if (nlhs > 1)
        plhs[1] = statuses_of(&requests, NULL, requests.count);
    return NULL;
}

/* [done, value, status] = r.test(). */
static const char *request_test(int nlhs, mxArray *plhs[], int nrhs, const mxArray *prhs[])
{
    struct requests requests;
    int complete = 0, done;
    const char *wrong = read_requests(nrhs, prhs, &requests);
    if (!wrong)
        wrong = test_all(&requests, &complete);
    if (wrong)
        return wrong;
    done = complete == requests.count;
    plhs[0] = mxCreateLogicalScalar(done);
    if (nlhs > 1)
        plhs[1] = !done ? no_value() : requests.count == 1 ? take_value(requests.of[0]) : values_of(&requests, NULL, requests.count);
    if (nlhs > 2)
        plhs[2] = !done ? no_value() : requests.count == 1 ? status_object(&requests.of[0]->status)
                                                           : statuses_of(&requests, NULL, requests.count);
    return NULL;
}

static const char *test_all_of(int nlhs, mxArray *plhs[], int nrhs, const mxArray *prhs[])
{
    struct requests requests;
    int complete = 0;
    const char *wrong = read_requests(nrhs, prhs, &requests);
    if (!wrong)
        wrong = test_all(&requests, &complete);
    if (wrong)
        return wrong;
    plhs[0] = mxCreateLogicalScalar(complete == requests.count);
    if (nlhs > 1)
        plhs[1] = complete == requests.count ? values_of(&requests, NULL, requests.count) : no_value();
    if (nlhs > 2)
        plhs[2] = complete == requests.count ? statuses_of(&requests, NULL, requests.count) : no_value();
    return NULL;
}

/* Those that are complete and have not been named before, at most `most`. */
static int newly_complete(const struct requests *requests, int most, int *chosen)
{
    int i, count = 0;
    for (i = 0; i < requests->count && count < most; i++)
        if (requests->of[i]->complete == COMPLETE)
            chosen[count++] = i;
    for (i = 0; i < count; i++)
        requests->of[chosen[i]]->complete = TAKEN;
    return count;
}

static int are_all_taken(const struct requests *requests)
{
    int i;
    for (i = 0; i < requests->count; i++)
        if (requests->of[i]->complete != TAKEN)
            return 0;
    return 1;
}

/* Indices from 1, values, statuses of what has completed: of one (`most` 1) or of all that have. */
static const char *some_of(int nlhs, mxArray *plhs[], int nrhs, const mxArray *prhs[], int most, int waits)
{
    struct requests requests;
    int *chosen, count = 0, complete, turns = 0, i;
    const char *wrong = read_requests(nrhs, prhs, &requests);
    if (wrong)
        return wrong;
    chosen = mxMalloc(((size_t)requests.count + 1) * sizeof *chosen);
    do {
        wrong = test_all(&requests, &complete);
        if (!wrong)
            count = newly_complete(&requests, most, chosen);
        if (!wrong && !count && waits && !are_all_taken(&requests))
            wrong = pause_a_little(&turns);
    } while (!wrong && waits && !count && !are_all_taken(&requests));
    if (wrong)
        return wrong;
    plhs[0] = mxCreateDoubleMatrix(count ? 1 : 0, (mwSize)count, mxREAL);
    for (i = 0; i < count; i++)
        mxGetDoubles(plhs[0])[i] = chosen[i] + 1;
    if (nlhs > 1)
        plhs[1] = most == 1 ? count ? take_value(requests.of[chosen[0]]) : no_value() : values_of(&requests, chosen, count);
    if (nlhs > 2)
        plhs[2] = most == 1 ? count ? status_object(&requests.of[chosen[0]]->status) : no_value()
                            : statuses_of(&requests, chosen, count);
    return NULL;
}

static const char *wait_any(int nlhs, mxArray *plhs[], int nrhs, const mxArray *prhs[])
{
    return some_of(nlhs, plhs, nrhs, prhs, 1, 1);
}

static const char *wait_some(int nlhs, mxArray *plhs[], int nrhs, const mxArray *prhs[])
{
    return some_of(nlhs, plhs, nrhs, prhs, INT32_MAX, 1);
}

static const char *test_any(int nlhs, mxArray *plhs[], int nrhs, const mxArray *prhs[])
{
    return some_of(nlhs, plhs, nrhs, prhs, 1, 0);
}

static const char *test_some(int nlhs, mxArray *plhs[], int nrhs, const mxArray *prhs[])
{
    return some_of(nlhs, plhs, nrhs, prhs, INT32_MAX, 0);
}

static const char *request_start(int nlhs, mxArray *plhs[], int nrhs, const mxArray *prhs[])
{
    struct requests requests;
    const char *wrong = read_requests(nrhs, prhs, &requests);
    int i;
    (void)nlhs, (void)plhs;
    for (i = 0; !wrong && i < requests.count; i++) {
        wrong = mpi_problem(MPI_Start(&requests.of[i]->request), "MPI_Start");
        if (!wrong)
            requests.of[i]->complete = ACTIVE;
    }
    return wrong;
}

static const char *request_cancel(int nlhs, mxArray *plhs[], int nrhs, const mxArray *prhs[])
{
    struct requests requests;
    const char *wrong = read_requests(nrhs, prhs, &requests);
    int i;
    (void)nlhs, (void)plhs;
    for (i = 0; !wrong && i < requests.count; i++) {
        struct pending *pending = requests.of[i];
        if (pending->complete)
            continue;
        if (!pending->of_values) {
            wrong = mpi_problem(MPI_Cancel(&pending->request), "MPI_Cancel");
            continue;
        }
        unlink_pending(pending);
        pending->complete = COMPLETE;
        MPI_Status_set_cancelled(&pending->status, 1);
    }
    return wrong;
}

static const char *status_of_pending(struct pending *pending, int *done, MPI_Status *status)
{
    struct waiting found;
    *status = pending->status;
    if (pending->of_values)
        *done = pending->complete || value_is_waiting(pending->comm, pending->source, pending->tag, &found);
    else if (pending->complete)
        *done = 1;
    else
        return mpi_problem(MPI_Request_get_status(pending->request, done, status), "MPI_Request_get_status");
    return NULL;
}

/* [done, status] = r.getStatus(): whether all are complete, and completes none. */
static const char *request_get_status(int nlhs, mxArray *plhs[], int nrhs, const mxArray *prhs[])
{
    struct requests requests;
    MPI_Status *statuses;
    mxArray *cell;
    int done = 1, one, i;
    const char *wrong = read_requests(nrhs, prhs, &requests);
    statuses = mxMalloc(((size_t)requests.count + 1) * sizeof *statuses);
    for (i = 0; i < requests.count && !wrong && done; i++) {
        wrong = status_of_pending(requests.of[i], &one, &statuses[i]);
        done = done && one;
    }
    if (wrong)
        return wrong;
    plhs[0] = mxCreateLogicalScalar(done);
    if (nlhs < 2)
        return NULL;
    if (!done || requests.count == 1) {
        plhs[1] = done ? status_object(&statuses[0]) : no_value();
        return NULL;
    }
    plhs[1] = cell = mxCreateCellMatrix(1, (mwSize)requests.count);
    for (i = 0; i < requests.count; i++)
        mxSetCell(cell, (mwSize)i, status_object(&statuses[i]));
    return NULL;
}

/* Called by brackets: a list of requests holds what each of them holds. */
static const char *request_retain(int nlhs, mxArray *plhs[], int nrhs, const mxArray *prhs[])
{
    struct requests requests;
    const char *wrong = read_requests(nrhs, prhs, &requests);
    int i;
    (void)nlhs, (void)plhs;
    for (i = 0; !wrong && i < requests.count; i++)
        requests.of[i]->references++;
    return wrong;
}

static const char *request_release(int nlhs, mxArray *plhs[], int nrhs, const mxArray *prhs[])
{
    struct requests requests;
    const char *wrong = read_requests(nrhs, prhs, &requests);
    int i;
    (void)nlhs, (void)plhs;
    for (i = 0; !wrong && i < requests.count; i++)
        release(requests.of[i]);
    return wrong;
}

const struct operation request_operations[] = {
    {"Comm.idup", comm_idup, 1},
    {"Comm.idupWithInfo", comm_idup_with_info, 1},
    {"Request.wait", request_wait, 2},
    {"Request.test", request_test, 3},
    {"Request.start", request_start, 0},
    {"Request.cancel", request_cancel, 0},
    {"Request.getStatus", request_get_status, 2},
    {"Request.retain", request_retain, 0},
    {"Request.release", request_release, 0},
    {"waitall", wait_all, 2},
    {"mpi.waitany", wait_any, 3},
    {"mpi.waitsome", wait_some, 3},
    {"testall", test_all_of, 3},
    {"mpi.testany", test_any, 3},
    {"mpi.testsome", test_some, 3},
    {"mpi.startall", request_start, 0},
    {NULL, NULL, 0},
};
