/* mpitb_requests.c: MPI-TB's nonblocking and persistent messages (sections 3.7 and 3.9).
 *
 * A request is a number that is never used again, so that one which is complete is known from one that never was. A nonblocking send
 * keeps a reference to its array, which copy-on-write protects; a nonblocking receive shares memory with its variable (mpitb.h).
 *
 * A persistent request stands for a variable over a long time, in which the program assigns to it and copies it. So MPI has memory of the
 * request's own. MPI_Start copies the variable's elements there for a send, and for a receive gives the variable a fresh array, which
 * gets the elements when the receive is complete. MPI_Start looks for the variable in the function that calls it; where there is none of
 * that name, class and size, it goes on with the array that the variable had before.
 */
#include "mpitb.h"
#include "mex_shared.h"
#include "problem.h"

#include <stdlib.h>
#include <string.h>

struct request {
    int number;
    MPI_Request request;
    /* Arrays of a nonblocking send. */
    struct call call;
    /* The array of a receive and of a persistent request. */
    mxArray *array;
    int receives;
    int persistent;
    char name[64];
    /* The memory of a persistent request. */
    void *memory;
    size_t bytes;
    MPI_Datatype type;
    struct request *next;
};

enum { FIRST_NUMBER = 100000, LISTS = 1024 };

/* By their numbers. */
static struct request *requests[LISTS];
static int next_number = FIRST_NUMBER;
/* Given up by the program, while MPI goes on with them. */
static struct request *given_up;

static struct request *new_request(void)
{
    struct request *request = calloc(1, sizeof *request);
    if (request)
        request->call.lasting = 1;
    return request;
}

static void free_request(struct request *request)
{
    call_release(&request->call);
    if (request->array)
        mxDestroyArray(request->array);
    free(request->memory);
    free(request);
}

static void remember(struct request *request)
{
    struct request **list = &requests[next_number % LISTS];
    request->number = next_number++;
    request->next = *list;
    *list = request;
}

static void forget(struct request *request)
{
    struct request **link = &requests[request->number % LISTS];
    while (*link && *link != request)
        link = &(*link)->next;
    if (*link)
        *link = request->next;
}

static struct request *find_request(int number)
{
    struct request *request = number < FIRST_NUMBER ? NULL : requests[number % LISTS];
    while (request && request->number != number)
        request = request->next;
    return request;
}

static int is_null(int number)
{
    return number == (int)(uintptr_t)MPI_REQUEST_NULL || (number >= FIRST_NUMBER && number < next_number);
}

static void free_given_up(void)
{
    struct request **link = &given_up;
    while (*link) {
        struct request *request = *link;
        int done = 1;
        MPI_Test(&request->request, &done, MPI_STATUS_IGNORE);
        if (!done) {
            link = &request->next;
            continue;
        }
        *link = request->next;
        if (request->request != MPI_REQUEST_NULL)
            MPI_Request_free(&request->request);
        free_request(request);
    }
}

void forget_requests(void)
{
    free_given_up();
}

/* ---- sends and receives ---- */

typedef int begin_send(const void *, MPI_Count, MPI_Datatype, int, int, MPI_Comm, MPI_Request *);

static void give_request(int nlhs, mxArray *plhs[], struct request *request, int code)
{
    give_code(plhs, code);
    if (code == MPI_SUCCESS) {
        remember(request);
        give(nlhs, plhs, 1, mxCreateDoubleScalar(request->number));
    } else {
        free_request(request);
        give(nlhs, plhs, 1, number_of_handle(MPI_REQUEST_NULL));
    }
}

static const char *read_envelope(const mxArray *prhs[], int *rank, int *tag, MPI_Comm *comm)
{
    const char *wrong = read_number(prhs[1], "the rank", rank);
    if (!wrong)
        wrong = read_number(prhs[2], "the tag", tag);
    return wrong ? wrong : read_communicator(prhs[3], comm);
}

static const char *start_send(int nlhs, mxArray *plhs[], const mxArray *prhs[], begin_send *begin)
{
    MPI_Comm comm;
    int dest, tag;
    struct request *request;
    struct buffer *buffer;
    const char *wrong = read_envelope(prhs, &dest, &tag, &comm);
    if (wrong)
        return wrong;
    free_given_up();
    request = new_request();
    if (!request)
        return argument_problem("out of memory for a request");
    buffer = &request->call.at[0].buffer;
    wrong = read_sent(&request->call, prhs[0], 'B', buffer);
    if (wrong)
        free_request(request);
    else
        give_request(nlhs, plhs, request, begin(buffer->address, buffer->count, buffer->type, dest, tag, comm, &request->request));
    return wrong;
}

#define SEND(function, begin) \
    const char *function(int nlhs, mxArray *plhs[], int nrhs, const mxArray *prhs[]) \
    { (void)nrhs; return start_send(nlhs, plhs, prhs, begin); }

SEND(mpitb_isend, MPI_Isend_c)
SEND(mpitb_issend, MPI_Issend_c)
SEND(mpitb_irsend, MPI_Irsend_c)
SEND(mpitb_ibsend, MPI_Ibsend_c)

const char *mpitb_irecv(int nlhs, mxArray *plhs[], int nrhs, const mxArray *prhs[])
{
    MPI_Comm comm;
    struct target target;
    int source, tag;
    struct request *request;
    const char *wrong = read_envelope(prhs, &source, &tag, &comm);
    (void)nrhs;
    if (!wrong)
        wrong = open_target(0, prhs[0], &target);
    if (wrong)
        return wrong;
    free_given_up();
    request = new_request();
    if (!request)
        return argument_problem("out of memory for a request");
    wrong = share_target(&target, &request->array);
    request->receives = 1;
    if (wrong)
        free_request(request);
    else
        give_request(nlhs, plhs, request, MPI_Irecv_c(target.address, target.count, target.type, source, tag, comm, &request->request));
    return wrong;
}

/* ---- persistent requests ---- */

static const char *open_persistent(int nrhs, const mxArray *prhs[], struct request **opened, int *rank, int *tag, MPI_Comm *comm)
{
    struct request *request;
    int size = 1;
    const char *wrong = read_envelope(prhs, rank, tag, comm);
    (void)nrhs;
    if (wrong)
        return wrong;
    if (type_of_elements(prhs[0]) == MPI_DATATYPE_NULL)
        return argument_problem("buf must be a full array of numbers, characters or logical values, not a %s", mxGetClassName(prhs[0]));
    request = new_request();
    if (!request)
        return argument_problem("out of memory for a request");
    request->persistent = 1;
    request->type = type_of_elements(prhs[0]);
    MPI_Type_size(request->type, &size);
    request->bytes = (size_t)size * mxGetNumberOfElements(prhs[0]);
    request->memory = malloc(request->bytes + 1);
    if (!request->memory) {
        free_request(request);
        return argument_problem("out of memory for a persistent request");
    }
    memcpy(request->memory, mxGetData(prhs[0]), request->bytes);
    *opened = request;
    return NULL;
}

static const char *prepare_send(int nlhs, mxArray *plhs[], int nrhs, const mxArray *prhs[], begin_send *prepare)
{
    MPI_Comm comm;
    struct request *request;
    int dest, tag;
    const char *wrong = open_persistent(nrhs, prhs, &request, &dest, &tag, &comm);
    if (wrong)
        return wrong;
    if (!is_caller_variable(0, request->name))
        *request->name = 0;
    give_request(nlhs, plhs, request, prepare(request->memory, (MPI_Count)mxGetNumberOfElements(prhs[0]), request->type, dest, tag, comm,
                                              &request->request));
    return NULL;
}

#define PREPARE(function, prepare) \
    const char *function(int nlhs, mxArray *plhs[], int nrhs, const mxArray *prhs[]) \
    { return prepare_send(nlhs, plhs, nrhs, prhs, prepare); }

PREPARE(mpitb_send_init, MPI_Send_init_c)
PREPARE(mpitb_ssend_init, MPI_Ssend_init_c)
PREPARE(mpitb_rsend_init, MPI_Rsend_init_c)
PREPARE(mpitb_bsend_init, MPI_Bsend_init_c)

const char *mpitb_recv_init(int nlhs, mxArray *plhs[], int nrhs, const mxArray *prhs[])
{
    MPI_Comm comm;
    struct target target;
    struct request *request;
    int source, tag;
    const char *wrong = open_target(0, prhs[0], &target);
    if (!wrong)
        wrong = open_persistent(nrhs, prhs, &request, &source, &tag, &comm);
    if (wrong)
        return wrong;
    request->receives = 1;
    strcpy(request->name, target.name);
    wrong = share_target(&target, &request->array);
    if (wrong)
        free_request(request);
    else
        give_request(nlhs, plhs, request,
                     MPI_Recv_init_c(request->memory, target.count, target.type, source, tag, comm, &request->request));
    return wrong;
}

/* The caller's variable, if it is still such an array. */
static mxArray *variable_of(const struct request *request)
{
    mxArray *value = *request->name ? value_in_caller(request->name) : NULL;
    int size;
    MPI_Type_size(request->type, &size);
    if (value && type_of_elements(value) == request->type && (size_t)size * mxGetNumberOfElements(value) == request->bytes)
        return value;
    if (value)
        mxDestroyArray(value);
    return NULL;
}

static const char *renew_variable(struct request *request)
{
    struct target target;
    mxArray *value = variable_of(request), *array = NULL;
    const char *wrong = NULL;
    if (!value)
        return NULL;
    if (!request->receives) {
        memcpy(request->memory, mxGetData(value), request->bytes);
    } else {
        strcpy(target.name, request->name);
        fill_target(value, &target);
        wrong = share_target(&target, &array);
        if (!wrong) {
            mxDestroyArray(request->array);
            request->array = array;
        }
    }
    mxDestroyArray(value);
    return wrong;
}

/* ---- lists of requests ---- */

struct list_of_requests {
    int count;
    int *numbers;
    struct request **of;
    MPI_Request *handles;
    MPI_Status *statuses;
    /* The argument of each. */
    int *arguments;
};

/* Arguments are numbers, or arrays of several. */
static const char *read_requests(int nrhs, const mxArray *prhs[], struct list_of_requests *list, int *code)
{
    int k;
    size_t total = 0, i;
    *code = MPI_SUCCESS;
    for (k = 0; k < nrhs; k++) {
        if (!mxIsDouble(prhs[k]) || mxIsComplex(prhs[k]) || mxIsSparse(prhs[k]))
            return argument_problem("argument %d must be a request, a number that a nonblocking or persistent operation gave", k + 1);
        total += mxGetNumberOfElements(prhs[k]);
    }
    memset(list, 0, sizeof *list);
    list->numbers = mxCalloc(total + 1, sizeof *list->numbers);
    list->of = mxCalloc(total + 1, sizeof *list->of);
    list->handles = mxCalloc(total + 1, sizeof *list->handles);
    list->statuses = mxCalloc(total + 1, sizeof *list->statuses);
    list->arguments = mxCalloc(total + 1, sizeof *list->arguments);
    for (k = 0; k < nrhs; k++)
        for (i = 0; i < mxGetNumberOfElements(prhs[k]); i++) {
            int number = (int)mxGetDoubles(prhs[k])[i];
            list->arguments[list->count] = k;
            list->numbers[list->count] = number;
            list->of[list->count] = find_request(number);
            list->handles[list->count] = list->of[list->count] ? list->of[list->count]->request : MPI_REQUEST_NULL;
            if (!list->of[list->count++] && !is_null(number))
                *code = MPI_ERR_REQUEST;
        }
    if (*code)
        raise_code(MPI_COMM_WORLD, *code);
    return NULL;
}

/* Variables of the caller tell which requests are null now, as in C. */
static void write_requests_back(int nrhs, const mxArray *prhs[], const struct list_of_requests *list)
{
    char name[64];
    int k, i, n;
    for (k = 0; k < nrhs; k++) {
        int changed = 0;
        mxArray *value = array_like(prhs[k], mxGetNumberOfDimensions(prhs[k]), mxGetDimensions(prhs[k]));
        memcpy(mxGetDoubles(value), mxGetDoubles(prhs[k]), mxGetNumberOfElements(value) * sizeof(double));
        for (i = n = 0; i < list->count; i++) {
            if (list->arguments[i] != k)
                continue;
            if (list->handles[i] == MPI_REQUEST_NULL && list->numbers[i] != (int)(uintptr_t)MPI_REQUEST_NULL) {
                mxGetDoubles(value)[n] = (double)(uintptr_t)MPI_REQUEST_NULL;
                changed = 1;
            }
            n++;
        }
        if (changed && is_caller_variable(k, name))
            assign_in_caller(name, value);
        mxDestroyArray(value);
    }
}

static void take_persistent(struct request *request, const MPI_Status *status)
{
    int size;
    size_t bytes;
    if (!request->receives)
        return;
    MPI_Type_size(request->type, &size);
    bytes = (size_t)elements_received(status, request->type) * (size_t)size;
    memcpy(mxGetData(request->array), request->memory, bytes < request->bytes ? bytes : request->bytes);
}

/* `status` is NULL for one that is inactive. */
static void complete(struct list_of_requests *list, int i, const MPI_Status *status)
{
    struct request *request = list->of[i];
    int k;
    if (!request)
        return;
    request->request = list->handles[i];
    if (request->persistent) {
        if (status)
            take_persistent(request, status);
    } else if (request->request == MPI_REQUEST_NULL) {
        forget(request);
        free_request(request);
        for (k = 0; k < list->count; k++)
            if (list->of[k] == request)
                list->of[k] = NULL;
    }
}

/* ---- Start ---- */

const char *mpitb_start(int nlhs, mxArray *plhs[], int nrhs, const mxArray *prhs[])
{
    struct list_of_requests list;
    int code, i;
    const char *wrong = read_requests(nrhs, prhs, &list, &code);
    (void)nlhs;
    for (i = 0; i < list.count && !wrong && code == MPI_SUCCESS; i++)
        if (!list.of[i] || !list.of[i]->persistent)
            code = raise_code(MPI_COMM_WORLD, MPI_ERR_REQUEST);
        else
            wrong = renew_variable(list.of[i]);
    if (wrong)
        return wrong;
    if (code == MPI_SUCCESS)
        code = MPI_Startall(list.count, list.handles);
    give_code(plhs, code);
    return NULL;
}

/* ---- Wait and Test ---- */

enum { ONE, ALL, ANY, SOME };

struct outcome {
    int code;
    /* Of a test. */
    int flag;
    int index;
    int *indices;
    int count;
};

static void call_mpi(int kind, int waits, struct list_of_requests *list, struct outcome *outcome)
{
    outcome->flag = 1;
    outcome->index = MPI_UNDEFINED;
    if (kind == ONE)
        outcome->code = waits ? MPI_Wait(list->handles, list->statuses)
                              : MPI_Test(list->handles, &outcome->flag, list->statuses);
    else if (kind == ALL)
        outcome->code = waits ? MPI_Waitall(list->count, list->handles, list->statuses)
                              : MPI_Testall(list->count, list->handles, &outcome->flag, list->statuses);
    else if (kind == ANY)
        outcome->code = waits ? MPI_Waitany(list->count, list->handles, &outcome->index, list->statuses)
                              : MPI_Testany(list->count, list->handles, &outcome->index, &outcome->flag, list->statuses);
    else
        outcome->code = waits ? MPI_Waitsome(list->count, list->handles, &outcome->count, outcome->indices, list->statuses)
                              : MPI_Testsome(list->count, list->handles, &outcome->count, outcome->indices, list->statuses);
    if (outcome->count == MPI_UNDEFINED)
        outcome->count = 0;
}

static void complete_all(int kind, struct list_of_requests *list, struct outcome *outcome)
{
    int i;
    if (kind == ONE || kind == ALL)
        for (i = 0; outcome->flag && i < list->count; i++)
            complete(list, i, &list->statuses[i]);
    else if (kind == ANY && outcome->index != MPI_UNDEFINED && outcome->flag)
        complete(list, outcome->index, &list->statuses[0]);
    else if (kind == SOME)
        for (i = 0; i < outcome->count; i++)
            complete(list, outcome->indices[i], &list->statuses[i]);
}

/* Only MPI_ERR_IN_STATUS sets the codes in statuses. */
static void clear_codes(struct list_of_requests *list, const struct outcome *outcome)
{
    int i, error_class = MPI_SUCCESS;
    MPI_Error_class(outcome->code, &error_class);
    for (i = 0; error_class != MPI_ERR_IN_STATUS && i < list->count; i++)
        list->statuses[i].MPI_ERROR = outcome->code;
}

static mxArray *row_of_indices(const struct outcome *outcome)
{
    mxArray *row = mxCreateDoubleMatrix(1, (mwSize)outcome->count, mxREAL);
    int i;
    for (i = 0; i < outcome->count; i++)
        mxGetDoubles(row)[i] = outcome->indices[i];
    return row;
}

static void give_outcome(int kind, int waits, int nlhs, mxArray *plhs[], const struct list_of_requests *list,
                         const struct outcome *outcome)
{
    int k = 1;
    give_code(plhs, outcome->code);
    if (kind == ANY)
        give(nlhs, plhs, k++, mxCreateDoubleScalar(outcome->index));
    if (kind == SOME)
        give(nlhs, plhs, k++, row_of_indices(outcome));
    if (kind != SOME && !waits)
        give(nlhs, plhs, k++, mxCreateDoubleScalar(outcome->flag));
    give(nlhs, plhs, k, status_structs(kind == ALL ? list->count : kind == SOME ? outcome->count : 1, list->statuses));
}

static const char *finish(int kind, int waits, int nlhs, mxArray *plhs[], int nrhs, const mxArray *prhs[])
{
    struct list_of_requests list;
    struct outcome outcome = {0, 0, 0, NULL, 0};
    const char *wrong = read_requests(nrhs, prhs, &list, &outcome.code);
    int i;
    if (!wrong && kind == ONE && list.count != 1)
        wrong = argument_problem("one request is wanted, not %d", list.count);
    if (wrong)
        return wrong;
    outcome.indices = mxCalloc((size_t)list.count + 1, sizeof *outcome.indices);
    for (i = 0; i < list.count; i++) {
        list.statuses[i].MPI_SOURCE = MPI_ANY_SOURCE;
        list.statuses[i].MPI_TAG = MPI_ANY_TAG;
    }
    if (outcome.code == MPI_SUCCESS) {
        call_mpi(kind, waits, &list, &outcome);
        clear_codes(&list, &outcome);
        complete_all(kind, &list, &outcome);
        write_requests_back(nrhs, prhs, &list);
    }
    give_outcome(kind, waits, nlhs, plhs, &list, &outcome);
    return NULL;
}

#define FINISH(function, kind, waits) \
    const char *function(int nlhs, mxArray *plhs[], int nrhs, const mxArray *prhs[]) \
    { return finish(kind, waits, nlhs, plhs, nrhs, prhs); }

FINISH(mpitb_wait, ONE, 1)
FINISH(mpitb_waitall, ALL, 1)
FINISH(mpitb_waitany, ANY, 1)
FINISH(mpitb_waitsome, SOME, 1)
FINISH(mpitb_test, ONE, 0)
FINISH(mpitb_testall, ALL, 0)
FINISH(mpitb_testany, ANY, 0)
FINISH(mpitb_testsome, SOME, 0)

/* ---- Cancel and free ---- */

const char *mpitb_cancel(int nlhs, mxArray *plhs[], int nrhs, const mxArray *prhs[])
{
    struct list_of_requests list;
    int code;
    const char *wrong = read_requests(nrhs, prhs, &list, &code);
    (void)nlhs;
    if (wrong)
        return wrong;
    if (code == MPI_SUCCESS && (list.count != 1 || !list.of[0]))
        code = raise_code(MPI_COMM_WORLD, MPI_ERR_REQUEST);
    give_code(plhs, code ? code : MPI_Cancel(&list.handles[0]));
    return NULL;
}

const char *mpitb_request_free(int nlhs, mxArray *plhs[], int nrhs, const mxArray *prhs[])
{
    struct list_of_requests list;
    struct request *request;
    int code;
    const char *wrong = read_requests(nrhs, prhs, &list, &code);
    (void)nlhs;
    if (wrong)
        return wrong;
    request = list.count == 1 ? list.of[0] : NULL;
    if (code == MPI_SUCCESS && !request)
        code = raise_code(MPI_COMM_WORLD, MPI_ERR_REQUEST);
    give_code(plhs, code);
    if (code != MPI_SUCCESS)
        return NULL;
    forget(request);
    list.handles[0] = MPI_REQUEST_NULL;
    write_requests_back(nrhs, prhs, &list);
    request->next = given_up;
    given_up = request;
    free_given_up();
    return NULL;
}
