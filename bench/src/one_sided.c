/*
 * Time of one operation on memory of another rank until it is done there: --operation all, or names of the table below,
 * separated by commas.
 *
 * Rank 0 works on the last rank's part of a window, and the other ranks wait in the barrier that follows. The window is one that was
 * allocated, or, where the name says so, created over memory that the program had. Operations that end with a flush run
 * under one shared lock of all; the others are measured with their synchronisation: a lock for each, a fence of all ranks, or
 * post, start, complete and wait between the two. The vectors of accumulate and get_accumulate are integers of 8 bytes, which are summed,
 * and fetch_and_op and compare_and_swap have one of them.
 */
#include "measure.h"

#include <string.h>

struct one_sided {
    int rank, ranks, target, bytes;
    char *local, *result;
    MPI_Win window;
    MPI_Group origin_group, target_group;
};

static void transfer_put(struct one_sided *o)
{
    MPI_Put(o->local, o->bytes, MPI_BYTE, o->target, 0, o->bytes, MPI_BYTE, o->window);
}

static void put(struct one_sided *o)
{
    transfer_put(o);
    MPI_Win_flush(o->target, o->window);
}

static void get(struct one_sided *o)
{
    MPI_Get(o->local, o->bytes, MPI_BYTE, o->target, 0, o->bytes, MPI_BYTE, o->window);
    MPI_Win_flush(o->target, o->window);
}

static void accumulate(struct one_sided *o)
{
    int count = o->bytes / 8;
    MPI_Accumulate(o->local, count, MPI_INT64_T, o->target, 0, count, MPI_INT64_T, MPI_SUM, o->window);
    MPI_Win_flush(o->target, o->window);
}

static void get_accumulate(struct one_sided *o)
{
    int count = o->bytes / 8;
    MPI_Get_accumulate(o->local, count, MPI_INT64_T, o->result, count, MPI_INT64_T, o->target, 0, count, MPI_INT64_T,
                       MPI_SUM, o->window);
    MPI_Win_flush(o->target, o->window);
}

static void fetch_and_op(struct one_sided *o)
{
    MPI_Fetch_and_op(o->local, o->result, MPI_INT64_T, o->target, 0, MPI_SUM, o->window);
    MPI_Win_flush(o->target, o->window);
}

static void compare_and_swap(struct one_sided *o)
{
    MPI_Compare_and_swap(o->local, o->local, o->result, MPI_INT64_T, o->target, 0, o->window);
    MPI_Win_flush(o->target, o->window);
}

static void lock_put_unlock(struct one_sided *o)
{
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, o->target, 0, o->window);
    transfer_put(o);
    MPI_Win_unlock(o->target, o->window);
}

/* All ranks. */
static void put_fence(struct one_sided *o)
{
    if (o->rank == 0)
        transfer_put(o);
    MPI_Win_fence(0, o->window);
}

/* The origin and the target. */
static void post_start_complete_wait(struct one_sided *o)
{
    if (o->rank == 0) {
        MPI_Win_start(o->target_group, 0, o->window);
        transfer_put(o);
        MPI_Win_complete(o->window);
    } else {
        MPI_Win_post(o->origin_group, 0, o->window);
        MPI_Win_wait(o->window);
    }
}

enum synchronisation { FLUSH, LOCK, FENCE, PAIR };

static const struct operation {
    const char *name;
    void (*call)(struct one_sided *o);
    enum synchronisation synchronisation;
    int has_sizes, is_created;
} operations[] = {
    {"put", put, FLUSH, 1, 0},
    {"get", get, FLUSH, 1, 0},
    {"put_created", put, FLUSH, 1, 1},
    {"get_created", get, FLUSH, 1, 1},
    {"accumulate", accumulate, FLUSH, 1, 0},
    {"get_accumulate", get_accumulate, FLUSH, 1, 0},
    {"fetch_and_op", fetch_and_op, FLUSH, 0, 0},
    {"compare_and_swap", compare_and_swap, FLUSH, 0, 0},
    {"lock_put_unlock", lock_put_unlock, LOCK, 1, 0},
    {"put_fence", put_fence, FENCE, 1, 0},
    {"post_start_complete_wait", post_start_complete_wait, PAIR, 1, 0},
};

enum { OPERATIONS = sizeof operations / sizeof operations[0] };

struct calls {
    const struct operation *operation;
    struct one_sided *one_sided;
};

static void repeat(void *context, int iterations)
{
    struct calls *calls = context;
    struct one_sided *o = calls->one_sided;
    enum synchronisation by = calls->operation->synchronisation;
    if (o->rank == 0 || by == FENCE || (by == PAIR && o->rank == o->target))
        for (int i = 0; i < iterations; i++)
            calls->operation->call(o);
}

static void measure_sizes(const struct settings *settings, struct calls *calls)
{
    struct one_sided *o = calls->one_sided;
    const struct operation *operation = calls->operation;
    int count = operation->has_sizes ? settings->size_count : 1;
    for (int i = 0; i < count; i++) {
        size_t bytes = operation->has_sizes ? settings->sizes[i] : 8;
        struct measured m;
        o->bytes = (int)bytes;
        m = measure(settings, repeat, calls);
        if (o->rank == 0)
            record_print(operation->name, o->ranks, bytes, m, 1e6, "us");
    }
}

/* Measures between what opens the epochs of an operation, where they are longer than one call, and what ends them. */
static void run(const struct settings *settings, const struct operation *operation, struct one_sided *o)
{
    struct calls calls = {operation, o};
    if (operation->synchronisation == FLUSH)
        MPI_Win_lock_all(0, o->window);
    if (operation->synchronisation == FENCE)
        MPI_Win_fence(MPI_MODE_NOPRECEDE, o->window);
    measure_sizes(settings, &calls);
    if (operation->synchronisation == FENCE)
        MPI_Win_fence(MPI_MODE_NOSUCCEED, o->window);
    if (operation->synchronisation == FLUSH)
        MPI_Win_unlock_all(o->window);
}

static void run_on_new_window(const struct settings *settings, const struct operation *operation, struct one_sided *o)
{
    MPI_Aint largest = (MPI_Aint)measure_largest(settings);
    char *memory = NULL;
    if (operation->is_created) {
        memory = measure_buffer((size_t)largest);
        MPI_Win_create(memory, largest, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &o->window);
    } else {
        MPI_Win_allocate(largest, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &o->window);
        memset(memory, 0, (size_t)largest);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    run(settings, operation, o);
    MPI_Win_free(&o->window);
}

static void prepare(struct one_sided *o, const struct settings *settings)
{
    MPI_Group world;
    int origin = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &o->rank);
    MPI_Comm_size(MPI_COMM_WORLD, &o->ranks);
    o->target = o->ranks - 1;
    o->local = measure_buffer(measure_largest(settings));
    o->result = measure_buffer(measure_largest(settings));
    MPI_Comm_group(MPI_COMM_WORLD, &world);
    MPI_Group_incl(world, 1, &origin, &o->origin_group);
    MPI_Group_incl(world, 1, &o->target, &o->target_group);
    MPI_Group_free(&world);
}

int main(int argc, char **argv)
{
    struct settings settings;
    struct one_sided o;
    int found = 0;

    MPI_Init(&argc, &argv);
    measure_arguments(&settings, argc, argv);
    prepare(&o, &settings);
    for (int i = 0; i < OPERATIONS; i++) {
        if (measure_is_chosen(&settings, operations[i].name)) {
            run_on_new_window(&settings, &operations[i], &o);
            found = 1;
        }
    }
    if (!found)
        measure_fail("--operation takes all, or names of operations such as put,get, not", settings.operation);
    MPI_Group_free(&o.origin_group);
    MPI_Group_free(&o.target_group);
    MPI_Finalize();
    return 0;
}
