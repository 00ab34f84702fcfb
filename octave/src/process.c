/* process.c: how a process begins and ends with MPI, alone, in a launcher's job, or as a session with jobs.
 *
 * The end of the process: a program that reaches its end without MPI_Finalize
 * is finalized on exit with status 0.  After an uncaught error the status is not
 * 0, and MPI is left alone: waiting there for others could hang, and a process
 * that ends without finalizing is what tells the launcher to end the job.
 */
#include "call.h"
#include "matlabmpi.h"
#include "mex_shared.h"
#include "problem.h"
#include "session.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

/* Of MPI_COMM_WORLD of MPI. */
static int world_size;
MPI_Comm matlabmpi_world;
int matlabmpi_has_left;
int matlabmpi_look_inside;

/* Those who wait for this process are told that it sends nothing more. */
static void leave_all(void)
{
    struct channel *channel = NULL;
    while ((channel = channel_after(channel)))
        channel_leave(channel);
}

#ifdef __GLIBC__
static void finish_at_exit(int status, void *unused)
{
    (void)unused;
    if (status != 0 || !exchange.running)
        return;
    leave_all();
    exchange_finish_sends(MPI_COMM_NULL);
    session_wait();
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
#endif

/* A process that no launcher has started is a session: a job of its own, which may start others.  So is
   one that has started others all the same. */
int has_launcher(void)
{
    return (world_size > 1 || getenv("POSTRIDER_JOB") != NULL) && !session_has_started();
}

const char *matlabmpi_begin(void)
{
    static int registered;
    int first = !exchange.running;
    const char *wrong = exchange_begin();
    if (wrong || !first)
        return wrong;
    MPI_Comm_size(MPI_COMM_WORLD, &world_size);
    matlabmpi_world = MPI_COMM_WORLD;
#ifdef __GLIBC__
    /* Registered after MPI_Init, so that it runs before MPI's own exit handlers. */
    if (!registered)
        registered = on_exit(finish_at_exit, NULL) == 0;
#else
    (void)registered;
#endif
#ifdef POSTRIDER_OCTAVE
    /* Once, so that a program can have it otherwise. */
    if (has_launcher())
        leave_no_workspace();
#endif
    return NULL;
}

/* For mpi.finalize, which ends MPI for the whole process. */
const char *matlabmpi_end(void)
{
    leave_all();
    return exchange_end();
}

/* ---- what MPI_Init, MPI_Run, MPI_Finalize and MPI_Abort are made of ---- */

static mxArray *handle_of(MPI_Comm comm)
{
    return mxCreateDoubleScalar(MPI_Comm_toint(comm));
}

/* The communicator of MPI_Run is MPI_COMM_WORLD from now on. */
static const char *make_current(const char *wrong, MPI_Comm comm, mxArray *plhs[])
{
    struct channel *channel;
    if (!wrong)
        wrong = exchange_channel(comm, &channel);
    if (wrong)
        return wrong;
    matlabmpi_world = comm;
    matlabmpi_has_left = 0;
    plhs[0] = handle_of(comm);
    return NULL;
}

/* The job that made it may have been ended. */
static void settle_current(void)
{
    struct channel *channel = NULL;
    if (matlabmpi_world == MPI_COMM_WORLD)
        return;
    while ((channel = channel_after(channel)))
        if (channel->comm == matlabmpi_world)
            return;
    matlabmpi_world = MPI_COMM_WORLD;
}

/* 'begin': rank and size in MPI_COMM_WORLD of MatlabMPI, its handle, and whether a launcher has
   started this process. */
static const char *session_op_begin(mxArray *plhs[], const mxArray *prhs[])
{
    struct channel *channel;
    double *facts;
    const char *wrong = matlabmpi_begin();
    (void)prhs;
    if (!wrong)
        wrong = exchange_channel(matlabmpi_world, &channel);
    if (wrong)
        return wrong;
    matlabmpi_has_left = 0;
    plhs[0] = mxCreateDoubleMatrix(1, 4, mxREAL);
    facts = mxGetDoubles(plhs[0]);
    facts[0] = channel->rank;
    facts[1] = channel->size;
    facts[2] = MPI_Comm_toint(matlabmpi_world);
    facts[3] = has_launcher();
    return NULL;
}

/* 'running': whether MPI runs, and whether a launcher has started this process. */
static const char *session_op_running(mxArray *plhs[], const mxArray *prhs[])
{
    (void)prhs;
    plhs[0] = mxCreateDoubleMatrix(1, 2, mxREAL);
    mxGetDoubles(plhs[0])[0] = exchange.running && !matlabmpi_has_left;
    mxGetDoubles(plhs[0])[1] = has_launcher();
    return NULL;
}

/* 'live': the launchers of jobs that run. */
static const char *session_op_live(mxArray *plhs[], const mxArray *prhs[])
{
    mwSize count = 0, i = 0;
    int launcher;
    (void)prhs;
    for (launcher = session_next(0); launcher; launcher = session_next(launcher))
        count++;
    plhs[0] = mxCreateDoubleMatrix(1, count, mxREAL);
    for (launcher = session_next(0); launcher && i < count; launcher = session_next(launcher))
        mxGetDoubles(plhs[0])[i++] = launcher;
    return NULL;
}

/* 'alone': the communicator of a job of one rank. */
static const char *session_op_alone(mxArray *plhs[], const mxArray *prhs[])
{
    const char *wrong = matlabmpi_begin();
    MPI_Comm comm = MPI_COMM_NULL;
    (void)prhs;
    if (!wrong)
        wrong = mpi_problem(MPI_Comm_dup(MPI_COMM_SELF, &comm), "MPI_Comm_dup");
    if (!wrong)
        MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    return make_current(wrong, comm, plhs);
}

/* 'launch', {words of the command}, log, bound: the launcher's process. */
static const char *session_op_launch(mxArray *plhs[], const mxArray *prhs[])
{
    size_t count = mxGetNumberOfElements(prhs[0]), i;
    char **words = mxCalloc(count + 1, sizeof *words);
    int launcher = 0;
    const char *wrong;
    for (i = 0; i < count; i++)
        words[i] = mxArrayToString(mxGetCell(prhs[0], i));
    wrong = session_launch(words, mxArrayToString(prhs[1]), mxGetScalar(prhs[2]) != 0, &launcher);
    plhs[0] = mxCreateDoubleScalar(launcher);
    settle_current();
    return wrong;
}

/* 'state', launcher: whether it has ended, and its exit code. */
static const char *session_op_state(mxArray *plhs[], const mxArray *prhs[])
{
    int over = 0, code = 0;
    const char *wrong = session_state(matlabmpi_integer(prhs[0]), &over, &code);
    plhs[0] = mxCreateDoubleMatrix(1, 2, mxREAL);
    mxGetDoubles(plhs[0])[0] = over;
    mxGetDoubles(plhs[0])[1] = code;
    return wrong;
}

/* 'meet', launcher, port, rank of the launcher's first, beginning of the names of the output files. */
static const char *session_op_meet(mxArray *plhs[], const mxArray *prhs[])
{
    MPI_Comm comm = MPI_COMM_NULL;
    const char *wrong = matlabmpi_begin();
    if (!wrong)
        wrong = session_meet(matlabmpi_integer(prhs[0]), mxArrayToString(prhs[1]), matlabmpi_integer(prhs[2]),
                             mxArrayToString(prhs[3]), &comm);
    return make_current(wrong, comm, plhs);
}

/* 'join', file for the port's name, number of first ranks that are not in it. */
static const char *session_op_join(mxArray *plhs[], const mxArray *prhs[])
{
    MPI_Comm comm = MPI_COMM_NULL;
    const char *wrong = matlabmpi_begin();
    if (!wrong)
        wrong = session_join(mxArrayToString(prhs[0]), matlabmpi_integer(prhs[1]), &comm);
    return make_current(wrong, comm, plhs);
}

/* 'stop', launcher. */
static const char *session_op_stop(mxArray *plhs[], const mxArray *prhs[])
{
    const char *wrong = session_stop(matlabmpi_integer(prhs[0]));
    (void)plhs;
    settle_current();
    return wrong;
}

/* 'look': from now on communicators are looked into. */
static const char *session_op_look(mxArray *plhs[], const mxArray *prhs[])
{
    (void)plhs, (void)prhs;
    matlabmpi_look_inside = 1;
    return NULL;
}

/* 'finish': a session goes on with MPI, for its next job; others are finalized. */
static const char *session_op_finish(mxArray *plhs[], const mxArray *prhs[])
{
    const char *wrong;
    (void)plhs, (void)prhs;
    if (!exchange.running)
        return NULL;
    leave_all();
    if (has_launcher())
        return exchange_end();
    wrong = matlabmpi_world == MPI_COMM_WORLD ? NULL : exchange_finish_sends(matlabmpi_world);
    session_let_go();
    /* The next program has this process for itself, unless MPI_Run makes it a job's. */
    matlabmpi_world = MPI_COMM_WORLD;
    matlabmpi_has_left = 1;
    return wrong;
}

/* 'abort', code: ends the job that this process is of. */
static const char *session_op_abort(mxArray *plhs[], const mxArray *prhs[])
{
    int code = matlabmpi_integer(prhs[0]);
    const char *wrong = matlabmpi_is_running();
    (void)plhs;
    if (wrong)
        return wrong;
    MPI_Abort(MPI_COMM_WORLD, code == INT_MIN ? 1 : code);
    return "MPI_Abort came back";
}

static const struct {
    const char *name;
    const char *(*run)(mxArray *plhs[], const mxArray *prhs[]);
    int arguments;
} SESSION_OPERATIONS[] = {
    {"begin", session_op_begin, 0},   {"alone", session_op_alone, 0},
    {"live", session_op_live, 0},     {"running", session_op_running, 0},
    {"launch", session_op_launch, 3}, {"state", session_op_state, 1},
    {"meet", session_op_meet, 4},     {"join", session_op_join, 2},
    {"stop", session_op_stop, 1},     {"look", session_op_look, 0},
    {"finish", session_op_finish, 0}, {"abort", session_op_abort, 1},
};

const char *op_session(int nlhs, mxArray *plhs[], int nrhs, const mxArray *prhs[])
{
    char *name = nrhs > 0 && mxIsChar(prhs[0]) ? mxArrayToString(prhs[0]) : NULL;
    size_t i;
    (void)nlhs;
    for (i = 0; name && i < sizeof SESSION_OPERATIONS / sizeof SESSION_OPERATIONS[0]; i++)
        if (strcmp(SESSION_OPERATIONS[i].name, name) == 0 &&
            SESSION_OPERATIONS[i].arguments == nrhs - 1)
            return SESSION_OPERATIONS[i].run(plhs, prhs + 1);
    return "this is called by MPI_Init, MPI_Run, MPI_Finalize and MPI_Abort";
}
