/* windows.c: arrays of the program in one-sided communication (chapter 12).
 *
 * An access to a window may go on after the call, while the language moves and frees arrays as it likes.  Where a process is locked the
 * access is completed in the call (a flush), at the origin for what is sent and at the target for what comes back.  In an epoch of
 * fence or start that is not possible: what is sent is kept until the epoch ends, and what comes back needs an mpi.Buffer.
 */
#include "call.h"
#include "problem.h"

#include <stdlib.h>
#include <string.h>

struct window {
    MPI_Win win;
    int locks;
    mxArray **kept;
    int kept_count;
    struct window *next;
};

static struct window *window_first;

static struct window *window_of(MPI_Win win)
{
    struct window *window;
    for (window = window_first; window; window = window->next)
        if (window->win == win)
            return window;
    window = calloc(1, sizeof *window);
    if (!window)
        return NULL;
    window->win = win;
    window->next = window_first;
    window_first = window;
    return window;
}

static void release_kept(struct window *window)
{
    while (window->kept_count)
        mxDestroyArray(window->kept[--window->kept_count]);
    free(window->kept);
    window->kept = NULL;
}

static int is_any(const char *name, const char *const names[])
{
    for (; *names; names++)
        if (strcmp(*names, name) == 0)
            return 1;
    return 0;
}

static const char *const SENDING[] = {"Win.put", "Win.accumulate", NULL};
static const char *const RETURNING[] = {"Win.get", "Win.getAccumulate", "Win.fetchAndOp", "Win.compareAndSwap", NULL};
static const char *const ENDING[] = {"Win.fence", "Win.complete", "Win.unlock", "Win.unlockAll", NULL};

int window_keeps(const char *name, MPI_Win win)
{
    const struct window *window;
    if (!is_any(name, SENDING) && !is_any(name, RETURNING))
        return 0;
    window = window_of(win);
    return !window || window->locks == 0;
}

const char *window_check(const char *name, const struct buffer *received)
{
    if (!is_any(name, RETURNING) || received->object)
        return NULL;
    return argument_problem("in an epoch of fence or start, what comes back is received into an mpi.Buffer, and is there when the epoch "
                            "has ended; between lock and unlock it can be an array");
}

static const char *keep_arrays(struct window *window, struct call *call)
{
    mxArray **grown = realloc(window->kept, (size_t)(window->kept_count + call->kept_count) * sizeof *grown);
    if (!grown && call->kept_count)
        return argument_problem("out of memory for the arrays of an epoch");
    window->kept = grown;
    while (call->kept_count)
        window->kept[window->kept_count++] = call->kept[--call->kept_count];
    return NULL;
}

const char *window_after(const char *name, struct call *call)
{
    struct window *window = window_of(WIN(0));
    int rank = NUMBER(strcmp(name, "Win.compareAndSwap") == 0 ? 3 : 2);
    if (!window)
        return argument_problem("out of memory for a window");
    if (strcmp(name, "Win.lock") == 0 || strcmp(name, "Win.lockAll") == 0)
        window->locks++;
    if (strcmp(name, "Win.unlock") == 0 || strcmp(name, "Win.unlockAll") == 0)
        window->locks--;
    if (is_any(name, ENDING))
        release_kept(window);
    if (call->lasting)
        return keep_arrays(window, call);
    if (is_any(name, SENDING))
        return mpi_problem(MPI_Win_flush_local(rank, WIN(0)), name);
    if (is_any(name, RETURNING))
        return mpi_problem(MPI_Win_flush(rank, WIN(0)), name);
    return NULL;
}

void window_forget(MPI_Win win)
{
    struct window **link = &window_first;
    while (*link && (*link)->win != win)
        link = &(*link)->next;
    if (*link) {
        struct window *window = *link;
        *link = window->next;
        release_kept(window);
        free(window);
    }
}
