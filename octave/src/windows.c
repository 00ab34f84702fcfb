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
    /* Of a window, or of a file. */
    const void *handle;
    int of_file;
    int locks;
    /* Of accesses, until the epoch ends, and of the window's own memory. */
    struct keeping *kept, *held;
    int kept_count, held_count;
    struct window *next;
};

static struct window *window_first;

static struct window *window_of(const void *handle, int of_file)
{
    struct window *window;
    for (window = window_first; window; window = window->next)
        if (window->handle == handle && window->of_file == of_file)
            return window;
    window = calloc(1, sizeof *window);
    if (!window)
        return NULL;
    window->handle = handle;
    window->of_file = of_file;
    window->next = window_first;
    window_first = window;
    return window;
}

static void release_all(struct keeping **kept, int *count)
{
    while (*count)
        keeping_release(&(*kept)[--*count]);
    free(*kept);
    *kept = NULL;
}

static const char *keep_one(struct keeping **kept, int *count, struct keeping *keeping)
{
    struct keeping *grown = realloc(*kept, (size_t)(*count + 1) * sizeof *grown);
    if (!grown)
        return argument_problem("out of memory for the arrays of an epoch");
    *kept = grown;
    grown[(*count)++] = *keeping;
    memset(keeping, 0, sizeof *keeping);
    return NULL;
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
static const char *const ATTACHING[] = {"Win.attach", "Win.detach", NULL};
static const char *const ENDING[] = {"Win.fence", "Win.complete", "Win.unlock", "Win.unlockAll", NULL};

/* Of a split collective. */
static int ends_with(const char *name, const char *end)
{
    return strlen(name) > strlen(end) && strcmp(name + strlen(name) - strlen(end), end) == 0;
}

int window_keeps(const char *name, const void *handle)
{
    const struct window *window;
    if (strncmp(name, "File.", 5) == 0)
        return ends_with(name, "Begin");
    if (is_any(name, ATTACHING))
        return 1;
    if (!is_any(name, SENDING) && !is_any(name, RETURNING))
        return 0;
    window = window_of(handle, 0);
    return !window || window->locks == 0;
}

const char *window_check(const char *name, const struct buffer *received)
{
    if (!is_any(name, RETURNING) || received->object)
        return NULL;
    return argument_problem("in an epoch of fence or start, what comes back is received into an mpi.Buffer, and is there when the epoch "
                            "has ended; between lock and unlock it can be an array");
}

const char *window_hold(MPI_Win win, struct keeping *keeping)
{
    struct window *window = window_of(win, 0);
    if (!window)
        return argument_problem("out of memory for a window");
    return keep_one(&window->held, &window->held_count, keeping);
}

/* A detached buffer is the program's alone again. */
static void let_go(struct window *window, const struct keeping *detached)
{
    int i;
    for (i = 0; i < window->held_count; i++)
        if (detached->block_count && window->held[i].block_count && window->held[i].blocks[0] == detached->blocks[0]) {
            keeping_release(&window->held[i]);
            window->held[i] = window->held[--window->held_count];
            return;
        }
}

/* One split collective at a time is open on a file (section 14.4.5). */
static const char *file_after(const char *name, struct call *call)
{
    struct window *file;
    if (!ends_with(name, "Begin") && !ends_with(name, "End"))
        return NULL;
    file = window_of(FILE_(0), 1);
    if (!file)
        return argument_problem("out of memory for a file");
    if (ends_with(name, "Begin"))
        return keep_one(&file->kept, &file->kept_count, &call->keeping);
    release_all(&file->kept, &file->kept_count);
    return NULL;
}

const char *window_after(const char *name, struct call *call)
{
    struct window *window = strncmp(name, "File.", 5) == 0 ? NULL : window_of(WIN(0), 0);
    int rank = NUMBER(strcmp(name, "Win.compareAndSwap") == 0 ? 3 : 2);
    if (strncmp(name, "File.", 5) == 0)
        return file_after(name, call);
    if (!window)
        return argument_problem("out of memory for a window");
    if (strcmp(name, "Win.lock") == 0 || strcmp(name, "Win.lockAll") == 0)
        window->locks++;
    if (strcmp(name, "Win.unlock") == 0 || strcmp(name, "Win.unlockAll") == 0)
        window->locks--;
    if (is_any(name, ENDING))
        release_all(&window->kept, &window->kept_count);
    if (strcmp(name, "Win.detach") == 0)
        let_go(window, &call->keeping);
    else if (strcmp(name, "Win.attach") == 0)
        return keep_one(&window->held, &window->held_count, &call->keeping);
    else if (call->lasting)
        return keep_one(&window->kept, &window->kept_count, &call->keeping);
    if (is_any(name, SENDING))
        return mpi_problem(MPI_Win_flush_local(rank, WIN(0)), name);
    if (is_any(name, RETURNING))
        return mpi_problem(MPI_Win_flush(rank, WIN(0)), name);
    return NULL;
}

void window_forget(MPI_Win win)
{
    struct window **link = &window_first;
    while (*link && ((*link)->handle != win || (*link)->of_file))
        link = &(*link)->next;
    if (*link) {
        struct window *window = *link;
        *link = window->next;
        release_all(&window->kept, &window->kept_count);
        release_all(&window->held, &window->held_count);
        free(window);
    }
    blocks_forget(win);
}
