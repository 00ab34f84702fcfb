/* interrupt.c: control-C while a session waits.
 *
 * Octave and MATLAB note control-C in a flag, and look at it between the steps of a program, so that a call of MPI that waits would wait
 * on.  In a session that no launcher has started, the waits for messages and requests ask again and again instead, and end when the flag
 * is set.  A collective cannot be asked: it matches no nonblocking one of others (MPI 5.0, section 6.12), so it runs in a thread of its own,
 * which control-C leaves behind with its memory.  Under a launcher control-C is its affair: it ends the job.  The flags are those of the running program, found by name, so that
 * the MEX file needs none of its libraries.
 */
#define _GNU_SOURCE
#include "call.h"
#include "problem.h"

#include <dlfcn.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <time.h>

#ifdef POSTRIDER_OCTAVE
/* Of liboctave's quit.h.  Signals are only noted when they arrive; the hook finds out which they were. */
static volatile sig_atomic_t *signal_caught, *interrupt_state;
static void (**signal_hook)(void);

static int find_flags(void)
{
    signal_caught = dlsym(RTLD_DEFAULT, "octave_signal_caught");
    interrupt_state = dlsym(RTLD_DEFAULT, "octave_interrupt_state");
    signal_hook = dlsym(RTLD_DEFAULT, "octave_signal_hook");
    return signal_caught && interrupt_state && signal_hook;
}

static int look_at_flags(void)
{
    if (*signal_caught && *signal_hook) {
        *signal_caught = 0;
        (*signal_hook)();
    }
    if (*interrupt_state <= 0)
        return 0;
    /* The error that follows is what it leads to. */
    *interrupt_state = 0;
    return 1;
}
#else
static bool (*is_pending)(void);

static int find_flags(void)
{
    *(void **)&is_pending = dlsym(RTLD_DEFAULT, "utIsInterruptPending");
    return is_pending != NULL;
}

static int look_at_flags(void)
{
    return is_pending();
}
#endif

int is_interrupted(void)
{
    static int found = -1;
    if (found < 0)
        found = find_flags();
    return found && look_at_flags();
}

int waits_can_end(void)
{
    static int answer = -1;
    int size = 0;
    if (answer < 0 && exchange.running) {
        MPI_Comm_size(MPI_COMM_WORLD, &size);
        answer = size == 1 && !getenv("POSTRIDER_JOB");
    }
    return answer > 0;
}

/* Others of the host get the core when nothing comes for a while. */
const char *pause_a_little(int *turns)
{
    struct timespec time = {0, 50000};
    if (++*turns < 1000)
        sched_yield();
    else
        nanosleep(&time, NULL);
    return waits_can_end() && is_interrupted() ? interrupt_problem() : NULL;
}

const char *wait_for_message(MPI_Comm comm, int source, int tag)
{
    const char *wrong = NULL;
    int turns = 0, flag = 0;
    while (waits_can_end() && !wrong && !flag) {
        wrong = mpi_problem(MPI_Iprobe(source, tag, comm, &flag, MPI_STATUS_IGNORE), "MPI_Iprobe");
        if (!wrong && !flag)
            wrong = pause_a_little(&turns);
    }
    return wrong;
}

/* ---- calls that cannot be asked ---- */

/* The thread writes `code`, and then `done`; who waits reads them in the other order. */
struct apart {
    int (*run)(void *context);
    void *context;
    int code;
    int done;
};

static void *run_thread(void *argument)
{
    struct apart *apart = argument;
    apart->code = apart->run(apart->context);
    __atomic_store_n(&apart->done, 1, __ATOMIC_RELEASE);
    return NULL;
}

/* Signals are for the thread that waits. */
static int start_thread(pthread_t *thread, struct apart *apart)
{
    sigset_t all, before;
    int failed;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    failed = pthread_create(thread, NULL, run_thread, apart);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return !failed;
}

int runs_apart(MPI_Comm comm)
{
    int level = MPI_THREAD_SINGLE, size = 0, inter = 0;
    if (!waits_can_end())
        return 0;
    MPI_Query_thread(&level);
    MPI_Comm_size(comm, &size);
    MPI_Comm_test_inter(comm, &inter);
    return level == MPI_THREAD_MULTIPLE && (size > 1 || inter);
}

const char *run_apart(int (*run)(void *context), void *context, int *code)
{
    struct apart *apart = calloc(1, sizeof *apart);
    const char *wrong = NULL;
    pthread_t thread;
    int turns = 0;
    if (!apart)
        return argument_problem("out of memory for a call");
    apart->run = run;
    apart->context = context;
    if (!start_thread(&thread, apart)) {
        free(apart);
        *code = run(context);
        return NULL;
    }
    while (!wrong && !__atomic_load_n(&apart->done, __ATOMIC_ACQUIRE))
        wrong = pause_a_little(&turns);
    if (wrong) {
        pthread_detach(thread);
        return wrong;
    }
    pthread_join(thread, NULL);
    *code = apart->code;
    free(apart);
    return NULL;
}
