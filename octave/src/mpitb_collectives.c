/* mpitb_collectives.c: MPI-TB's collective operations (chapter 6).
 *
 * Counts are those of the variables: each process contributes all elements of svar, and of a scatter receives as many as rvar has. Before
 * MPI is called it is checked that what is sent and received lies inside the variables; what they do not mean at a process, such as rvar
 * of a gather at others than the root, is not looked at.
 */
#include "mpitb.h"
#include "problem.h"

#include <string.h>

/* ---- arguments ---- */

struct source {
    const void *address;
    MPI_Count count;
    MPI_Datatype type;
};

static const char *read_source(int argument, const mxArray *value, struct source *source)
{
    source->type = type_of_elements(value);
    if (is_written(argument, "MPI_IN_PLACE")) {
        source->address = MPI_IN_PLACE;
        source->count = 0;
        source->type = MPI_DATATYPE_NULL;
        return NULL;
    }
    if (source->type == MPI_DATATYPE_NULL)
        return argument_problem("argument %d is a %s%s; collective operations are of full arrays of numbers, characters or logical "
                                "values", argument + 1, mxIsSparse(value) ? "sparse " : "", mxGetClassName(value));
    source->address = mxGetData(value);
    source->count = (MPI_Count)mxGetNumberOfElements(value);
    return NULL;
}

/* What this process is in an operation with a root. */
enum role { ROOT, OTHER, IDLE };

struct group {
    MPI_Comm comm;
    int inter;
    /* Processes that have parts of a variable of the root. */
    int size;
    int root;
    enum role role;
};

static const char *read_group(const mxArray *comm, const mxArray *root, struct group *group)
{
    int rank = -1;
    const char *wrong = read_communicator(comm, &group->comm);
    group->root = 0;
    if (!wrong && root)
        wrong = read_number(root, "root", &group->root);
    if (wrong)
        return wrong;
    group->inter = 0;
    group->size = 0;
    /* A wrong communicator is found by the operation. */
    if (group->comm == MPI_COMM_NULL)
        return NULL;
    MPI_Comm_test_inter(group->comm, &group->inter);
    if (group->inter)
        MPI_Comm_remote_size(group->comm, &group->size);
    else
        MPI_Comm_size(group->comm, &group->size);
    MPI_Comm_rank(group->comm, &rank);
    if (group->inter)
        group->role = group->root == MPI_ROOT ? ROOT : group->root == MPI_PROC_NULL ? IDLE : OTHER;
    else
        group->role = group->root == rank ? ROOT : OTHER;
    return NULL;
}

static const char *too_small(const char *what, MPI_Count has, MPI_Count needed)
{
    return argument_problem("%s has %lld elements, and %lld are needed", what, (long long)has, (long long)needed);
}

static const char *same_class(const struct source *source, const struct target *target)
{
    if (source->address == MPI_IN_PLACE || source->type == target->type)
        return NULL;
    return argument_problem("svar and rvar are of different classes, or one of them is complex; make %s of the class of svar", target->name);
}

/* A count and a displacement for each process. */
struct parts {
    int *counts;
    int *displacements;
};

static const char *read_parts(struct call *call, const mxArray *counts, const mxArray *displacements, int size, struct parts *parts)
{
    struct list list;
    const char *wrong = read_list(call, counts, 'I', &list);
    int given = wrong ? 0 : list.length;
    parts->counts = list.of.ints;
    if (!wrong)
        wrong = read_list(call, displacements, 'I', &list);
    parts->displacements = list.of.ints;
    if (!wrong && (given != size || list.length != size))
        wrong = argument_problem("there are %d counts and %d displacements for %d processes", given, list.length, size);
    return wrong;
}

static const char *check_parts(const char *what, MPI_Count has, int size, const struct parts *parts)
{
    int i;
    for (i = 0; i < size; i++)
        if (parts->counts[i] < 0 || parts->displacements[i] < 0 || (MPI_Count)parts->displacements[i] + parts->counts[i] > has)
            return argument_problem("the part of process %d, %d elements from element %d (counted from 0), is not inside %s of %lld",
                                    i, parts->counts[i], parts->displacements[i], what, (long long)has);
    return NULL;
}

static void give_target(mxArray *plhs[], int code, struct target *target)
{
    give_code(plhs, code);
    if (code == MPI_SUCCESS)
        close_target(target);
    else
        mxDestroyArray(target->array);
}

/* ---- broadcast ---- */

const char *mpitb_bcast(int nlhs, mxArray *plhs[], int nrhs, const mxArray *prhs[])
{
    struct group group;
    struct source source = {NULL, 0, MPI_BYTE};
    struct target target;
    const char *wrong = read_group(prhs[2], prhs[1], &group);
    (void)nlhs, (void)nrhs;
    if (!wrong && group.role == ROOT)
        wrong = read_source(0, prhs[0], &source);
    if (!wrong && group.role == OTHER)
        wrong = open_target(0, prhs[0], &target);
    if (wrong)
        return wrong;
    if (group.role == OTHER)
        give_target(plhs, MPI_Bcast_c(target.address, target.count, target.type, group.root, group.comm), &target);
    else
        give_code(plhs, MPI_Bcast_c((void *)source.address, source.count, source.type, group.root, group.comm));
    return NULL;
}

/* ---- gather ---- */

/* The count of a process in rvar. */
static MPI_Count share_of(const struct group *group, const struct source *source, const struct target *target)
{
    if (source->address != MPI_IN_PLACE && !(group->inter && group->role == ROOT))
        return source->count;
    return target->count / divisor(group->size);
}

static const char *open_gathered(const mxArray *svar, const mxArray *rvar, const struct group *group, int receives, struct source *source,
                                 struct target *target)
{
    const char *wrong = NULL;
    source->address = NULL;
    source->count = 0;
    source->type = MPI_BYTE;
    if (group->role != IDLE && !(group->inter && group->role == ROOT && receives == 1))
        wrong = read_source(0, svar, source);
    if (!wrong && receives)
        wrong = open_target(1, rvar, target);
    if (!wrong && receives && source->address)
        wrong = same_class(source, target);
    return wrong;
}

const char *mpitb_gather(int nlhs, mxArray *plhs[], int nrhs, const mxArray *prhs[])
{
    struct group group;
    struct source source;
    struct target target;
    MPI_Count share;
    const char *wrong = read_group(prhs[3], prhs[2], &group);
    (void)nlhs, (void)nrhs;
    if (!wrong)
        wrong = open_gathered(prhs[0], prhs[1], &group, group.role == ROOT, &source, &target);
    if (wrong)
        return wrong;
    if (group.role != ROOT) {
        give_code(plhs, MPI_Gather_c(source.address, source.count, source.type, NULL, 0, MPI_BYTE, group.root, group.comm));
        return NULL;
    }
    share = share_of(&group, &source, &target);
    if (share * group.size > target.count)
        return too_small(target.name, target.count, share * group.size);
    keep_rest(&target, source.address == MPI_IN_PLACE ? 0 : share * group.size);
    give_target(plhs, MPI_Gather_c(source.address, source.count, source.type, target.address, share, target.type, group.root, group.comm),
                &target);
    return NULL;
}

const char *mpitb_allgather(int nlhs, mxArray *plhs[], int nrhs, const mxArray *prhs[])
{
    struct group group;
    struct source source;
    struct target target;
    MPI_Count share;
    const char *wrong = read_group(prhs[2], NULL, &group);
    (void)nlhs, (void)nrhs;
    if (!wrong)
        wrong = open_gathered(prhs[0], prhs[1], &group, 2, &source, &target);
    if (wrong)
        return wrong;
    share = group.inter ? target.count / divisor(group.size) : share_of(&group, &source, &target);
    if (share * group.size > target.count)
        return too_small(target.name, target.count, share * group.size);
    keep_rest(&target, source.address == MPI_IN_PLACE ? 0 : share * group.size);
    give_target(plhs, MPI_Allgather_c(source.address, source.count, source.type, target.address, share, target.type, group.comm), &target);
    return NULL;
}

const char *mpitb_gatherv(int nlhs, mxArray *plhs[], int nrhs, const mxArray *prhs[])
{
    struct call call;
    struct group group;
    struct source source;
    struct target target;
    struct parts parts;
    const char *wrong = read_group(prhs[5], prhs[4], &group);
    (void)nlhs, (void)nrhs;
    memset(&call, 0, sizeof call);
    if (!wrong)
        wrong = open_gathered(prhs[0], prhs[1], &group, group.role == ROOT, &source, &target);
    if (!wrong && group.role == ROOT)
        wrong = read_parts(&call, prhs[2], prhs[3], group.size, &parts);
    if (!wrong && group.role == ROOT)
        wrong = check_parts(target.name, target.count, group.size, &parts);
    if (!wrong && group.role == ROOT) {
        keep_rest(&target, 0);
        give_target(plhs, MPI_Gatherv(source.address, (int)source.count, source.type, target.address, parts.counts, parts.displacements,
                                      target.type, group.root, group.comm), &target);
    } else if (!wrong) {
        give_code(plhs, MPI_Gatherv(source.address, (int)source.count, source.type, NULL, NULL, NULL, MPI_BYTE, group.root, group.comm));
    }
    call_release(&call);
    return wrong;
}

const char *mpitb_allgatherv(int nlhs, mxArray *plhs[], int nrhs, const mxArray *prhs[])
{
    struct call call;
    struct group group;
    struct source source;
    struct target target;
    struct parts parts;
    const char *wrong = read_group(prhs[4], NULL, &group);
    (void)nlhs, (void)nrhs;
    memset(&call, 0, sizeof call);
    if (!wrong)
        wrong = open_gathered(prhs[0], prhs[1], &group, 2, &source, &target);
    if (!wrong)
        wrong = read_parts(&call, prhs[2], prhs[3], group.size, &parts);
    if (!wrong)
        wrong = check_parts(target.name, target.count, group.size, &parts);
    if (!wrong) {
        keep_rest(&target, 0);
        give_target(plhs, MPI_Allgatherv(source.address, (int)source.count, source.type, target.address, parts.counts, parts.displacements,
                                         target.type, group.comm), &target);
    }
    call_release(&call);
    return wrong;
}

/* ---- scatter ---- */

/* At the root rvar may be MPI_IN_PLACE. */
static const char *open_scattered(int rvar, const mxArray *prhs[], const struct group *group, struct source *source, int *receives,
                                  struct target *target)
{
    const char *wrong = NULL;
    memset(target, 0, sizeof *target);
    target->address = MPI_IN_PLACE;
    target->type = MPI_BYTE;
    source->address = NULL;
    source->count = 0;
    source->type = MPI_BYTE;
    *receives = group->role == OTHER || (group->role == ROOT && !group->inter && !is_written(rvar, "MPI_IN_PLACE"));
    if (group->role == ROOT)
        wrong = read_source(0, prhs[0], source);
    if (!wrong && *receives)
        wrong = open_target(rvar, prhs[rvar], target);
    if (!wrong && *receives && group->role == ROOT)
        wrong = same_class(source, target);
    return wrong;
}

const char *mpitb_scatter(int nlhs, mxArray *plhs[], int nrhs, const mxArray *prhs[])
{
    struct group group;
    struct source source;
    struct target target;
    int receives, code;
    MPI_Count share;
    const char *wrong = read_group(prhs[3], prhs[2], &group);
    (void)nlhs, (void)nrhs;
    if (!wrong)
        wrong = open_scattered(1, prhs, &group, &source, &receives, &target);
    if (wrong)
        return wrong;
    share = receives ? target.count : source.count / divisor(group.size);
    if (group.role == ROOT && share * group.size > source.count)
        return too_small("svar", source.count, share * group.size);
    code = MPI_Scatter_c(source.address, group.role == ROOT ? share : 0, source.type, target.address, receives ? share : 0, target.type,
                         group.root, group.comm);
    if (receives)
        give_target(plhs, code, &target);
    else
        give_code(plhs, code);
    return NULL;
}

const char *mpitb_scatterv(int nlhs, mxArray *plhs[], int nrhs, const mxArray *prhs[])
{
    struct call call;
    struct group group;
    struct source source;
    struct target target;
    struct parts parts = {NULL, NULL};
    int receives, code;
    const char *wrong = read_group(prhs[5], prhs[4], &group);
    (void)nlhs, (void)nrhs;
    memset(&call, 0, sizeof call);
    if (!wrong)
        wrong = open_scattered(3, prhs, &group, &source, &receives, &target);
    if (!wrong && group.role == ROOT)
        wrong = read_parts(&call, prhs[1], prhs[2], group.size, &parts);
    if (!wrong && group.role == ROOT)
        wrong = check_parts("svar", source.count, group.size, &parts);
    if (!wrong) {
        if (receives)
            keep_rest(&target, 0);
        code = MPI_Scatterv(source.address, parts.counts, parts.displacements, source.type, target.address, (int)target.count, target.type,
                            group.root, group.comm);
        if (receives)
            give_target(plhs, code, &target);
        else
            give_code(plhs, code);
    }
    call_release(&call);
    return wrong;
}

/* ---- all to all ---- */

const char *mpitb_alltoall(int nlhs, mxArray *plhs[], int nrhs, const mxArray *prhs[])
{
    struct group group;
    struct source source;
    struct target target;
    int count;
    MPI_Count all;
    const char *wrong = read_group(prhs[3], NULL, &group);
    (void)nlhs, (void)nrhs;
    if (!wrong)
        wrong = read_number(prhs[2], "srcnt", &count);
    if (!wrong)
        wrong = read_source(0, prhs[0], &source);
    if (!wrong)
        wrong = open_target(1, prhs[1], &target);
    if (!wrong)
        wrong = same_class(&source, &target);
    if (wrong)
        return wrong;
    all = (MPI_Count)(count < 0 ? 0 : count) * group.size;
    if (source.address != MPI_IN_PLACE && all > source.count)
        return too_small("svar", source.count, all);
    if (all > target.count)
        return too_small(target.name, target.count, all);
    keep_rest(&target, source.address == MPI_IN_PLACE ? 0 : all);
    give_target(plhs, MPI_Alltoall(source.address, count, source.type, target.address, count, target.type, group.comm), &target);
    return NULL;
}

const char *mpitb_alltoallv(int nlhs, mxArray *plhs[], int nrhs, const mxArray *prhs[])
{
    struct call call;
    struct group group;
    struct source source;
    struct target target;
    struct parts sent, received;
    const char *wrong = read_group(prhs[6], NULL, &group);
    (void)nlhs, (void)nrhs;
    memset(&call, 0, sizeof call);
    if (!wrong)
        wrong = read_source(0, prhs[0], &source);
    if (!wrong)
        wrong = open_target(3, prhs[3], &target);
    if (!wrong)
        wrong = same_class(&source, &target);
    if (!wrong)
        wrong = read_parts(&call, prhs[1], prhs[2], group.size, &sent);
    if (!wrong)
        wrong = read_parts(&call, prhs[4], prhs[5], group.size, &received);
    if (!wrong && source.address != MPI_IN_PLACE)
        wrong = check_parts("svar", source.count, group.size, &sent);
    if (!wrong)
        wrong = check_parts(target.name, target.count, group.size, &received);
    if (!wrong) {
        keep_rest(&target, 0);
        give_target(plhs, MPI_Alltoallv(source.address, sent.counts, sent.displacements, source.type, target.address, received.counts,
                                        received.displacements, target.type, group.comm), &target);
    }
    call_release(&call);
    return wrong;
}

/* ---- reductions ---- */

static const char *read_op(const mxArray *value, MPI_Op *op)
{
    void *handle;
    const char *wrong = read_handle(value, "Op", &handle);
    *op = handle;
    return wrong;
}

/* In place, what is combined is in rvar. */
static const char *open_reduced(const mxArray *prhs[], int receives, struct source *source, struct target *target)
{
    const char *wrong = read_source(0, prhs[0], source);
    if (!wrong && receives)
        wrong = open_target(1, prhs[1], target);
    if (!wrong && receives)
        wrong = same_class(source, target);
    if (wrong || !receives)
        return wrong;
    if (source->address == MPI_IN_PLACE) {
        source->count = target->count;
        source->type = target->type;
        keep_rest(target, 0);
    }
    return NULL;
}

const char *mpitb_reduce(int nlhs, mxArray *plhs[], int nrhs, const mxArray *prhs[])
{
    struct group group;
    struct source source = {NULL, 0, MPI_BYTE};
    struct target target;
    MPI_Op op;
    const char *wrong = read_group(prhs[4], prhs[3], &group);
    (void)nlhs, (void)nrhs;
    if (!wrong)
        wrong = read_op(prhs[2], &op);
    if (!wrong && group.inter && group.role == ROOT) {
        wrong = open_target(1, prhs[1], &target);
        source.count = target.count;
        source.type = target.type;
    } else if (!wrong && group.role != IDLE) {
        wrong = open_reduced(prhs, group.role == ROOT, &source, &target);
    }
    if (wrong)
        return wrong;
    if (group.role != ROOT) {
        give_code(plhs, MPI_Reduce_c(source.address, NULL, source.count, source.type, op, group.root, group.comm));
        return NULL;
    }
    if (source.count > target.count)
        return too_small(target.name, target.count, source.count);
    keep_rest(&target, source.count);
    give_target(plhs, MPI_Reduce_c(source.address, target.address, source.count, source.type, op, group.root, group.comm), &target);
    return NULL;
}

typedef int reduce_to_all(const void *, void *, MPI_Count, MPI_Datatype, MPI_Op, MPI_Comm);

static const char *reduce_at_all(mxArray *plhs[], const mxArray *prhs[], reduce_to_all *reduce)
{
    MPI_Comm comm;
    MPI_Op op;
    struct source source;
    struct target target;
    const char *wrong = read_communicator(prhs[3], &comm);
    if (!wrong)
        wrong = read_op(prhs[2], &op);
    if (!wrong)
        wrong = open_reduced(prhs, 1, &source, &target);
    if (wrong)
        return wrong;
    if (source.count > target.count)
        return too_small(target.name, target.count, source.count);
    keep_rest(&target, source.count);
    give_target(plhs, reduce(source.address, target.address, source.count, source.type, op, comm), &target);
    return NULL;
}

const char *mpitb_allreduce(int nlhs, mxArray *plhs[], int nrhs, const mxArray *prhs[])
{
    (void)nlhs, (void)nrhs;
    return reduce_at_all(plhs, prhs, MPI_Allreduce_c);
}

const char *mpitb_scan(int nlhs, mxArray *plhs[], int nrhs, const mxArray *prhs[])
{
    (void)nlhs, (void)nrhs;
    return reduce_at_all(plhs, prhs, MPI_Scan_c);
}

/* The counts are those of the processes of this group, also in an inter-communicator. */
const char *mpitb_reduce_scatter(int nlhs, mxArray *plhs[], int nrhs, const mxArray *prhs[])
{
    struct call call;
    struct group group;
    struct source source;
    struct target target;
    struct list counts;
    MPI_Op op;
    MPI_Count all = 0;
    int i, size = 0, rank = 0;
    const char *wrong = read_group(prhs[4], NULL, &group);
    (void)nlhs, (void)nrhs;
    memset(&call, 0, sizeof call);
    if (!wrong)
        wrong = read_op(prhs[3], &op);
    if (!wrong)
        wrong = open_reduced(prhs, 1, &source, &target);
    if (!wrong)
        wrong = read_list(&call, prhs[2], 'I', &counts);
    if (!wrong && group.comm != MPI_COMM_NULL) {
        MPI_Comm_size(group.comm, &size);
        MPI_Comm_rank(group.comm, &rank);
        if (counts.length != size)
            wrong = argument_problem("there are %d counts for %d processes", counts.length, size);
        for (i = 0; i < size && !wrong; i++)
            all += counts.of.ints[i] < 0 ? 0 : counts.of.ints[i];
        if (!wrong && all > source.count)
            wrong = too_small("svar", source.count, all);
        if (!wrong && counts.of.ints[rank] > target.count)
            wrong = too_small(target.name, target.count, counts.of.ints[rank]);
    }
    if (!wrong) {
        keep_rest(&target, 0);
        give_target(plhs, MPI_Reduce_scatter(source.address, target.address, counts.of.ints, source.type, op, group.comm), &target);
    }
    call_release(&call);
    return wrong;
}
