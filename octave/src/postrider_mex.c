/* postrider_mex.c: the functions that a program calls, MatlabMPI's interface.
 *
 * One MEX file serves every function: it is installed once for each name of the
 * table below (as links to one file, so that there is one state), and finds out
 * by mexFunctionName() which one it is.  So a call costs no function in the
 * language itself.  Further interfaces (the rest of MatlabMPI, MPITB, pMatlab)
 * add rows to the table.
 *
 * The end of the process: a program that reaches its end without MPI_Finalize
 * is finalized on exit with status 0.  After an uncaught error the status is not
 * 0, and MPI is left alone: waiting there for others could hang, and a process
 * that ends without finalizing is what tells the launcher to end the job.
 */
#include "call.h"
#include "mex_shared.h"
#include "problem.h"

#include <limits.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifdef POSTRIDER_OCTAVE
/* Octave looks for this name to know that complex arrays are interleaved. */
extern const int __mx_has_interleaved_complex__;
const int __mx_has_interleaved_complex__ = 1;
#endif

/* MPI_COMM_WORLD, from MPI_Init on and also after MPI_Finalize, as in MatlabMPI. */
static int world_rank, world_size;

typedef const char *operation(int nlhs, mxArray *plhs[], int nrhs, const mxArray *prhs[]);

#ifdef __GLIBC__
static void finish_at_exit(int status, void *unused)
{
    (void)unused;
    if (status == 0)
        exchange_end();
}
#endif

#ifdef POSTRIDER_OCTAVE
/* Octave saves all variables as octave-workspace in the working directory when a
   signal ends it.  That is right for a session of a user, but when one rank fails the
   launcher ends all others by signals: each would write that file over the others'. */
static void leave_no_workspace(void)
{
    static const char *const settings[] = {"crash_dumps_octave_core", "sighup_dumps_octave_core",
                                           "sigterm_dumps_octave_core"};
    size_t i;
    for (i = 0; i < sizeof settings / sizeof settings[0]; i++) {
        mxArray *off = mxCreateLogicalScalar(0);
        mxDestroyArray(call_builtin(settings[i], 1, &off));
        mxDestroyArray(off);
    }
}

/* A process that no launcher has started is a job of its own. */
static int has_launcher(void)
{
    return world_size > 1 || getenv("POSTRIDER_JOB") != NULL;
}
#endif

static const char *op_init(int nlhs, mxArray *plhs[], int nrhs, const mxArray *prhs[])
{
    static int registered;
    int first = !exchange.running;
    const char *wrong = exchange_begin();
    if (!wrong) {
        MPI_Comm_rank(MPI_COMM_WORLD, &world_rank);
        MPI_Comm_size(MPI_COMM_WORLD, &world_size);
    }
    (void)nlhs, (void)plhs, (void)nrhs, (void)prhs;
#ifdef __GLIBC__
    /* Registered after MPI_Init, so that it runs before MPI's own exit handlers. */
    if (!wrong && !registered)
        registered = on_exit(finish_at_exit, NULL) == 0;
#else
    (void)registered;
#endif
#ifdef POSTRIDER_OCTAVE
    /* Once, so that a program can have it otherwise. */
    if (!wrong && first && has_launcher())
        leave_no_workspace();
#else
    (void)first;
#endif
    return wrong;
}

static const char *op_finalize(int nlhs, mxArray *plhs[], int nrhs, const mxArray *prhs[])
{
    (void)nlhs, (void)plhs, (void)nrhs, (void)prhs;
    return exchange_end();
}

/* ---- arguments ---- */

static const char *check_running(void)
{
    if (exchange.running)
        return NULL;
    return exchange.finalized ? "MPI has been finalized; call this before MPI_Finalize"
                              : "MPI is not running; call MPI_Init first";
}

/* An integer of a real scalar of any class, or INT_MIN. */
static int integer_of(const mxArray *value)
{
    double number;
    if (mxGetNumberOfElements(value) != 1 || mxIsCell(value) || mxIsStruct(value) ||
        !(mxIsNumeric(value) || mxIsLogical(value)) || mxIsComplex(value))
        return INT_MIN;
    number = mxGetScalar(value);
    if (!(number > INT_MIN && number <= INT_MAX) || number != (int)number)
        return INT_MIN;
    return (int)number;
}

static int is_star(const mxArray *value)
{
    return mxIsChar(value) && mxGetNumberOfElements(value) == 1 && *mxGetChars(value) == '*';
}

/* MPI_COMM_WORLD, or the empty value of a global variable of that name, which
   MatlabMPI programs declare. */
static const char *check_communicator(const mxArray *value)
{
    if (mxIsEmpty(value) || integer_of(value) == MPI_Comm_toint(MPI_COMM_WORLD))
        return NULL;
    return "comm is not a communicator; the only one here is MPI_COMM_WORLD";
}

static const char *get_rank(const mxArray *value, int any, int *rank)
{
    *rank = any && is_star(value) ? MPI_ANY_SOURCE : integer_of(value);
    if (any && *rank == MPI_ANY_SOURCE)
        return NULL;
    if (*rank >= 0 && *rank < world_size)
        return NULL;
    return any ? "source must be a rank of comm (0 ... size-1), '*' or MPI_ANY_SOURCE"
               : "the rank must be one of comm: 0 ... size-1";
}

static const char *get_tag(const mxArray *value, int any, int *tag)
{
    *tag = any && is_star(value) ? MPI_ANY_TAG : integer_of(value);
    if (any && *tag == MPI_ANY_TAG)
        return NULL;
    if (*tag >= 0 && *tag <= exchange.user_tag_max)
        return NULL;
    return any ? "tag must be an integer from 0 to half of MPI_TAG_UB, '*' or MPI_ANY_TAG"
               : "tag must be an integer from 0 to half of MPI_TAG_UB";
}

/* The first three arguments of every communication. */
static const char *get_envelope(int nrhs, const mxArray *prhs[], int any, int *rank, int *tag)
{
    const char *wrong = check_running();
    if (!wrong && nrhs < 3)
        wrong = "too few arguments; the first three are rank, tag and comm";
    if (!wrong)
        wrong = get_rank(prhs[0], any, rank);
    if (!wrong)
        wrong = get_tag(prhs[1], any, tag);
    return wrong ? wrong : check_communicator(prhs[2]);
}

/* ---- environment and communicators ---- */

static const char *op_comm_world(int nlhs, mxArray *plhs[], int nrhs, const mxArray *prhs[])
{
    (void)nlhs, (void)nrhs, (void)prhs;
    plhs[0] = mxCreateDoubleScalar(MPI_Comm_toint(MPI_COMM_WORLD));
    return NULL;
}

static const char *op_any_source(int nlhs, mxArray *plhs[], int nrhs, const mxArray *prhs[])
{
    (void)nlhs, (void)nrhs, (void)prhs;
    plhs[0] = mxCreateDoubleScalar(MPI_ANY_SOURCE);
    return NULL;
}

static const char *op_any_tag(int nlhs, mxArray *plhs[], int nrhs, const mxArray *prhs[])
{
    (void)nlhs, (void)nrhs, (void)prhs;
    plhs[0] = mxCreateDoubleScalar(MPI_ANY_TAG);
    return NULL;
}

/* Rank and size stay known after MPI_Finalize, as in MatlabMPI. */
static const char *comm_number(mxArray *plhs[], int nrhs, const mxArray *prhs[], const int *number)
{
    const char *wrong = exchange.finalized ? NULL : check_running();
    if (!wrong && nrhs > 0)
        wrong = check_communicator(prhs[0]);
    if (!wrong)
        plhs[0] = mxCreateDoubleScalar(*number);
    return wrong;
}

static const char *op_comm_rank(int nlhs, mxArray *plhs[], int nrhs, const mxArray *prhs[])
{
    (void)nlhs;
    return comm_number(plhs, nrhs, prhs, &world_rank);
}

static const char *op_comm_size(int nlhs, mxArray *plhs[], int nrhs, const mxArray *prhs[])
{
    (void)nlhs;
    return comm_number(plhs, nrhs, prhs, &world_size);
}

/* MPI_Abort, MPI_Abort(comm) and MPI_Abort(comm, code). */
static const char *op_abort(int nlhs, mxArray *plhs[], int nrhs, const mxArray *prhs[])
{
    int code = nrhs > 1 ? integer_of(prhs[1]) : 1;
    const char *wrong = check_running();
    (void)nlhs, (void)plhs;
    if (!wrong && nrhs > 0)
        wrong = check_communicator(prhs[0]);
    if (wrong)
        return wrong;
    MPI_Abort(MPI_COMM_WORLD, code == INT_MIN ? 1 : code);
    return "MPI_Abort came back";
}

/* ---- communication ---- */

static const char *send_values(int count, const mxArray *const values[], const int *destinations,
                               int destination_count, int tag)
{
    struct outgoing *message = exchange_new_message();
    const char *wrong = values_encode(message, count, values);
    return wrong ? wrong : exchange_send(MPI_COMM_WORLD, message, count, destinations, destination_count, tag);
}

static const char *op_send(int nlhs, mxArray *plhs[], int nrhs, const mxArray *prhs[])
{
    int destination, tag;
    const char *wrong = get_envelope(nrhs, prhs, 0, &destination, &tag);
    (void)nlhs, (void)plhs;
    return wrong ? wrong : send_values(nrhs - 3, prhs + 3, &destination, 1, tag);
}

static const char *op_recv(int nlhs, mxArray *plhs[], int nrhs, const mxArray *prhs[])
{
    int source, tag;
    const char *wrong = get_envelope(nrhs, prhs, 1, &source, &tag);
    return wrong ? wrong : exchange_receive(MPI_COMM_WORLD, source, tag, nlhs, plhs, NULL);
}

/* The source sends to every other process; a receiver may as well call MPI_Recv. */
static const char *op_bcast(int nlhs, mxArray *plhs[], int nrhs, const mxArray *prhs[])
{
    int source, tag, i, count = 0;
    int *destinations;
    const char *wrong = get_envelope(nrhs, prhs, 0, &source, &tag);
    if (wrong)
        return wrong;
    if (source != world_rank)
        return exchange_receive(MPI_COMM_WORLD, source, tag, nlhs, plhs, NULL);
    if (nlhs > nrhs - 3)
        return "more values are asked for than are broadcast";
    destinations = mxMalloc((size_t)world_size * sizeof *destinations);
    for (i = 0; i < world_size; i++)
        if (i != world_rank)
            destinations[count++] = i;
    wrong = send_values(nrhs - 3, prhs + 3, destinations, count, tag);
    mxFree(destinations);
    for (i = 0; i < nlhs && !wrong; i++)
        plhs[i] = same_value(prhs[3 + i]);
    return wrong;
}

static const char *op_probe(int nlhs, mxArray *plhs[], int nrhs, const mxArray *prhs[])
{
    int source, tag;
    struct waiting *first = NULL, *waiting;
    mwSize count = 0, i = 0;
    double *ranks, *tags;
    const char *wrong = get_envelope(nrhs, prhs, 1, &source, &tag);
    if (!wrong)
        wrong = exchange_probe(MPI_COMM_WORLD, &first);
    if (wrong)
        return wrong;
    for (waiting = first; waiting; waiting = waiting->next)
        count += exchange_matches(waiting, source, tag) != 0;
    /* A program that probes in a loop lets others have the core. */
    if (count == 0)
        sched_yield();
    plhs[0] = mxCreateDoubleMatrix(count, count ? 1 : 0, mxREAL);
    ranks = mxGetDoubles(plhs[0]);
    tags = NULL;
    if (nlhs > 1) {
        plhs[1] = mxCreateDoubleMatrix(count, count ? 1 : 0, mxREAL);
        tags = mxGetDoubles(plhs[1]);
    }
    for (waiting = first; waiting; waiting = waiting->next) {
        if (!exchange_matches(waiting, source, tag))
            continue;
        ranks[i] = waiting->source;
        if (tags)
            tags[i] = waiting->tag;
        i++;
    }
    return NULL;
}

static const struct {
    const char *name;
    operation *run;
    int outputs_max;
} OPERATIONS[] = {
    {"MPI_Send", op_send, 0},
    {"MPI_Recv", op_recv, INT_MAX},
    {"MPI_Probe", op_probe, 2},
    {"MPI_Bcast", op_bcast, INT_MAX},
    {"MPI_Comm_rank", op_comm_rank, 1},
    {"MPI_Comm_size", op_comm_size, 1},
    {"MPI_COMM_WORLD", op_comm_world, 1},
    {"MPI_ANY_SOURCE", op_any_source, 1},
    {"MPI_ANY_TAG", op_any_tag, 1},
    {"MPI_Init", op_init, 0},
    {"MPI_Finalize", op_finalize, 0},
    {"MPI_Abort", op_abort, 0},
};

/* ---- dispatch ---- */

static const struct operation *find_operation(const struct operation *table, const char *name)
{
    for (; table->name; table++)
        if (strcmp(table->name, name) == 0)
            return table;
    return NULL;
}

/* A function of mpi.* by its full name, such as "Comm.Send" or "mpi.wtime". */
static const char *call_by_name(const char *name, int nlhs, mxArray *plhs[], int nrhs, const mxArray *prhs[], int *found)
{
    static const struct operation *const TABLES[] = {value_operations, request_operations, buffer_operations, object_operations};
    const char *wrong = call_row(name, nlhs, plhs, nrhs, prhs, found);
    size_t i;
    for (i = 0; !*found && i < sizeof TABLES / sizeof TABLES[0]; i++) {
        const struct operation *operation = find_operation(TABLES[i], name);
        *found = operation != NULL;
        if (operation && !is_running() && strcmp(name, "state") != 0 && strcmp(name, "Session.begin") != 0 &&
            strcmp(name, "Request.release") != 0 && strcmp(name, "Buffer.release") != 0)
            return state_problem(exchange.finalized ? "MPI has been finalized" : "MPI is not running; c = mpi.world starts it");
        if (operation)
            wrong = nlhs > operation->outputs_max && nlhs > 1 ? argument_problem("too many outputs")
                                                              : operation->run(nlhs, plhs, nrhs, prhs);
    }
    return wrong;
}

/* A method of the class of the first argument, else a function of the package. */
static const char *call_method(const char *name, int nlhs, mxArray *plhs[], int nrhs, const mxArray *prhs[], int *found)
{
    const char *class_name = nrhs > 0 ? mxGetClassName(prhs[0]) : "";
    const char *wrong = NULL;
    char full[96];
    *found = 0;
    if (strncmp(class_name, "mpi.", 4) == 0 && strlen(class_name) + strlen(name) < sizeof full) {
        strcpy(full, class_name + 4);
        strcat(strcat(full, "."), name);
        wrong = call_by_name(full, nlhs, plhs, nrhs, prhs, found);
    }
    if (*found)
        return wrong;
    snprintf(full, sizeof full, "mpi.%s", name);
    return call_by_name(full, nlhs, plhs, nrhs, prhs, found);
}

/* postrider_call(name, ...), for what has no link of its own. */
static const char *call_named(char *name, size_t room, int nlhs, mxArray *plhs[], int nrhs, const mxArray *prhs[], int *found)
{
    *found = 1;
    if (nrhs < 1 || !mxIsChar(prhs[0]) || mxGetString(prhs[0], name, room) != 0)
        return argument_problem("postrider_call(name, ...) is wanted");
    if (strcmp(name, "start") == 0)
        return op_init(0, plhs, 0, NULL);
    if (strcmp(name, "finish") == 0)
        return op_finalize(0, plhs, 0, NULL);
    return call_by_name(name, nlhs, plhs, nrhs - 1, prhs + 1, found);
}

static const char *call_matlabmpi(const char *name, int nlhs, mxArray *plhs[], int nrhs, const mxArray *prhs[], int *found)
{
    size_t i;
    for (i = 0; i < sizeof OPERATIONS / sizeof OPERATIONS[0]; i++) {
        if (strcmp(OPERATIONS[i].name, name) != 0)
            continue;
        *found = 1;
        return nlhs > OPERATIONS[i].outputs_max ? "too many outputs" : OPERATIONS[i].run(nlhs, plhs, nrhs, prhs);
    }
    return NULL;
}

void mexFunction(int nlhs, mxArray *plhs[], int nrhs, const mxArray *prhs[])
{
    char named[96] = "";
    const char *name = mexFunctionName(), *wrong;
    int found = 0;
    if (strcmp(name, "postrider_call") == 0)
        wrong = call_named(named, sizeof named, nlhs, plhs, nrhs, prhs, &found);
    else if (strncmp(name, "MPI_", 4) == 0)
        wrong = call_matlabmpi(name, nlhs, plhs, nrhs, prhs, &found);
    else
        wrong = call_method(name, nlhs, plhs, nrhs, prhs, &found);
    if (!found)
        wrong = "this is no function of Postrider";
#ifdef POSTRIDER_OCTAVE
    /* Octave puts the name of the function in front by itself. */
    if (wrong)
        mexErrMsgIdAndTxt(identifier_of(wrong), "%s", wrong);
#else
    if (wrong)
        mexErrMsgIdAndTxt(identifier_of(wrong), "%s: %s", name, wrong);
#endif
}
