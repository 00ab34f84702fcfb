/* session.c: see session.h. */
#include "session.h"

#include "call.h"
#include "problem.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#ifdef __linux__
#include <sys/prctl.h>
#endif

struct job {
    pid_t launcher;
    /* The end of a pipe to its standard input, or -1. */
    int input;
    int over;
    int code;
    MPI_Comm comm;
    /* The session's part has come to its end, and was not broken off by an error. */
    int left;
    int first;
    char *outputs;
    char *log;
    struct job *next;
};

static struct job *job_first;
static int started;
static char problem_text[768];

static void rest_ms(long ms)
{
    struct timespec moment = {ms / 1000, ms % 1000 * 1000000L};
    nanosleep(&moment, NULL);
}

/* ---- the launcher ---- */

/* In the new process.  It has a session of its own, so that the keys that interrupt this one do
   not reach the ranks, and nothing of this process but what is meant for it. */
static void become_launcher(char *const words[], int input, int output, int bound, pid_t parent)
{
    sigset_t none;
    int fd;
    setsid();
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    signal(SIGPIPE, SIG_DFL);
#ifdef __linux__
    if (bound)
        prctl(PR_SET_PDEATHSIG, SIGTERM);
#endif
    if (bound && getppid() != parent)
        _exit(1);
    dup2(input, 0);
    dup2(output, 1);
    dup2(output, 2);
    for (fd = 3; fd < 1024; fd++)
        close(fd);
    execvp(words[0], words);
    dprintf(2, "cannot start %s: %s\n", words[0], strerror(errno));
    _exit(127);
}

static const char *refused(const char *what, const char *which)
{
    snprintf(problem_text, sizeof problem_text, "cannot %s %s: %s", what, which, strerror(errno));
    return problem_text;
}

static const char *start_launcher(struct job *job, char *const words[], int bound)
{
    int ends[2], output = open(job->log, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
    pid_t parent = getpid();
    if (output < 0)
        return refused("write", job->log);
    if (pipe(ends) != 0) {
        close(output);
        return refused("make a pipe for", words[0]);
    }
    fcntl(ends[1], F_SETFD, FD_CLOEXEC);
    job->launcher = fork();
    if (job->launcher == 0)
        become_launcher(words, ends[0], output, bound, parent);
    close(ends[0]);
    close(output);
    job->input = ends[1];
    if (job->launcher > 0)
        return NULL;
    close(ends[1]);
    return refused("start", words[0]);
}

static void look_at(struct job *job)
{
    int status;
    if (job->over || waitpid(job->launcher, &status, WNOHANG) == 0)
        return;
    job->over = 1;
    job->code = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
    if (job->input >= 0)
        close(job->input);
    job->input = -1;
}

/* Its communicator ends as well: nobody is there any more who could be told. */
static void forget_job(struct job *job)
{
    struct job **link = &job_first;
    if (job->comm != MPI_COMM_NULL && exchange.running) {
        exchange_finish_sends(job->comm);
        MPI_Comm_free(&job->comm);
    }
    while (*link != job)
        link = &(*link)->next;
    *link = job->next;
    free(job->outputs);
    free(job->log);
    free(job);
}

/* Asks the launcher to end its ranks, and waits until it has. */
static void stop(struct job *job)
{
    int looks;
    look_at(job);
    for (looks = 0; !job->over; looks++) {
        /* Long after what the launcher itself grants its ranks. */
        if (looks % 1000 == 0)
            kill(job->launcher, looks ? SIGKILL : SIGTERM);
        rest_ms(10);
        look_at(job);
    }
}

/* Those that are over, for what is left of a failed one would be an error to whoever waits; and those
   in which the session's part was broken off, and whose ranks wait for it in vain. */
static void forget_earlier(void)
{
    struct job *job = job_first, *next;
    for (; job; job = next) {
        next = job->next;
        look_at(job);
        if (!job->over && job->comm != MPI_COMM_NULL && !job->left)
            stop(job);
        if (job->over)
            forget_job(job);
    }
}

const char *session_launch(char *const words[], const char *log, int bound, int *launcher)
{
    struct job *job = calloc(1, sizeof *job);
    const char *wrong;
    forget_earlier();
    if (!job || !(job->log = strdup(log))) {
        free(job);
        return out_of_memory();
    }
    job->comm = MPI_COMM_NULL;
    wrong = start_launcher(job, words, bound);
    if (wrong) {
        free(job->log);
        free(job);
        return wrong;
    }
    job->next = job_first;
    job_first = job;
    started = 1;
    *launcher = (int)job->launcher;
    return NULL;
}

static const char *find_job(int launcher, struct job **job)
{
    for (*job = job_first; *job; *job = (*job)->next)
        if ((*job)->launcher == launcher)
            return NULL;
    return "this process has started no such job";
}

const char *session_state(int launcher, int *over, int *code)
{
    struct job *job;
    const char *wrong = find_job(launcher, &job);
    if (wrong)
        return wrong;
    look_at(job);
    *over = job->over;
    *code = job->code;
    return NULL;
}

/* ---- what went wrong ---- */

/* The rank that failed first, and how, as the launcher says it; 0 if it does not. */
static int failed_first(const struct job *job, int *rank, char how[256])
{
    FILE *log = fopen(job->log, "r");
    char line[512];
    int found = 0;
    while (log && !found && fgets(line, sizeof line, log))
        found = sscanf(line, "postrider: rank %d of %*d failed first: %255[^\n]", rank, how) == 2;
    if (log)
        fclose(log);
    return found;
}

static const char *describe_end(const struct job *job)
{
    char how[256];
    int rank;
    if (failed_first(job, &rank, how))
        snprintf(problem_text, sizeof problem_text,
                 "rank %d has failed: %s; its output is in %s%d.out", job->first + rank, how,
                 job->outputs, job->first + rank);
    else if (job->code)
        snprintf(problem_text, sizeof problem_text,
                 "the ranks of MPI_Run have been ended with exit code %d; see %s", job->code, job->log);
    else
        snprintf(problem_text, sizeof problem_text,
                 "all ranks of MPI_Run have ended without sending a message that matches");
    return problem_text;
}

static const char *check_job(struct channel *channel)
{
    struct job *job = job_first;
    while (job && job->comm != channel->comm)
        job = job->next;
    if (is_interrupted())
        return interrupt_problem();
    if (!job)
        return NULL;
    look_at(job);
    return job->over ? describe_end(job) : NULL;
}

/* ---- meeting ---- */

static const char *merge(MPI_Comm *both, int high, MPI_Comm *comm)
{
    struct channel *channel;
    const char *wrong = mpi_problem(MPI_Intercomm_merge(*both, high, comm), "MPI_Intercomm_merge");
    MPI_Comm_free(both);
    if (!wrong)
        wrong = mpi_problem(MPI_Comm_set_errhandler(*comm, MPI_ERRORS_RETURN),
                            "MPI_Comm_set_errhandler");
    if (!wrong)
        wrong = exchange_channel(*comm, &channel);
    return wrong ? wrong : channel_watch(channel, high ? NULL : check_job);
}

const char *session_meet(int launcher, const char *port, int first, const char *outputs,
                         MPI_Comm *comm)
{
    struct job *job;
    MPI_Comm both;
    const char *wrong = find_job(launcher, &job);
    if (wrong)
        return wrong;
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    wrong = mpi_problem(MPI_Comm_connect(port, MPI_INFO_NULL, 0, MPI_COMM_SELF, &both),
                        "MPI_Comm_connect");
    if (!wrong)
        wrong = merge(&both, 0, comm);
    if (wrong)
        return wrong;
    job->comm = *comm;
    job->first = first;
    job->outputs = strdup(outputs);
    return job->outputs ? NULL : out_of_memory();
}

/* Whoever looks for the file finds it whole. */
static const char *write_port(const char *file, const char *port)
{
    char hidden[4096];
    FILE *written;
    snprintf(hidden, sizeof hidden, "%s.new", file);
    written = fopen(hidden, "w");
    if (!written || fputs(port, written) < 0 || fclose(written) != 0 || rename(hidden, file) != 0)
        return refused("write", file);
    return NULL;
}

static const char *group_behind(int without, MPI_Comm *comm)
{
    MPI_Group all, behind;
    int range[3] = {0, without - 1, 1};
    const char *wrong = mpi_problem(MPI_Comm_group(MPI_COMM_WORLD, &all), "MPI_Comm_group");
    if (!wrong)
        wrong = mpi_problem(MPI_Group_range_excl(all, without > 0, &range, &behind),
                            "MPI_Group_range_excl");
    if (!wrong)
        wrong = mpi_problem(MPI_Comm_create_group(MPI_COMM_WORLD, behind, 0, comm),
                            "MPI_Comm_create_group");
    return wrong;
}

const char *session_join(const char *port_file, int without, MPI_Comm *comm)
{
    char port[MPI_MAX_PORT_NAME] = "";
    MPI_Comm ours, both;
    int rank = 0;
    const char *wrong = group_behind(without, &ours);
    if (!wrong)
        wrong = mpi_problem(MPI_Comm_rank(ours, &rank), "MPI_Comm_rank");
    if (!wrong && rank == 0) {
        wrong = mpi_problem(MPI_Open_port(MPI_INFO_NULL, port), "MPI_Open_port");
        if (!wrong)
            wrong = write_port(port_file, port);
    }
    if (!wrong)
        wrong = mpi_problem(MPI_Comm_accept(port, MPI_INFO_NULL, 0, ours, &both), "MPI_Comm_accept");
    if (wrong)
        return wrong;
    if (rank == 0) {
        MPI_Close_port(port);
        remove(port_file);
    }
    MPI_Comm_free(&ours);
    return merge(&both, 1, comm);
}

/* ---- the end ---- */

const char *session_stop(int launcher)
{
    struct job *job;
    const char *wrong = find_job(launcher, &job);
    if (wrong)
        return wrong;
    stop(job);
    forget_job(job);
    return NULL;
}

int session_has_started(void)
{
    return started;
}

int session_next(int launcher)
{
    struct job *job = job_first;
    while (launcher && job && job->launcher != launcher)
        job = job->next;
    for (job = launcher && job ? job->next : job; job; job = job->next) {
        look_at(job);
        if (!job->over)
            return (int)job->launcher;
    }
    return 0;
}

static void let_go(struct job *job)
{
    if (job->input >= 0)
        close(job->input);
    job->input = -1;
}

void session_let_go(void)
{
    struct job *job;
    for (job = job_first; job; job = job->next) {
        job->left = 1;
        let_go(job);
    }
}

/* A job in which the session's part has come to its end may take as long as it likes. */
void session_wait(void)
{
    enum { LOOKS = 2000 };
    struct job *job;
    /* A key that interrupts ends this process then, and with it the jobs. */
    signal(SIGINT, SIG_DFL);
    for (job = job_first; job; job = job->next) {
        int looks;
        let_go(job);
        look_at(job);
        for (looks = 0; !job->over && job->comm != MPI_COMM_NULL; looks++) {
            if (looks == LOOKS && !job->left)
                stop(job);
            rest_ms(5);
            look_at(job);
        }
    }
}
