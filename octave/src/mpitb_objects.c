/* mpitb_objects.c: what a row of call.h cannot say of MPI-TB's start and end, groups, topologies, info objects and spawning. */
#include "mpitb.h"
#include "matlabmpi.h"
#include "problem.h"

#include <stdlib.h>
#include <string.h>

/* ---- start and end ---- */

/* In a session, a process that no launcher has started, programs follow each other, and each calls MPI_Init and MPI_Finalize; MPI itself runs until
   the session ends. */
static int has_left;

int is_between_programs(void)
{
    return has_left;
}

/* Errors are fatal until the program says otherwise, as the standard has it. */
const char *mpitb_init(int nlhs, mxArray *plhs[], int nrhs, const mxArray *prhs[])
{
    int initialized = 0, k;
    const char *wrong;
    (void)nlhs;
    for (k = 0; k < nrhs; k++)
        if (!mxIsChar(prhs[k]))
            return argument_problem("argument %d must be a text", k + 1);
    MPI_Initialized(&initialized);
    if (initialized && !has_left && !exchange.finalized) {
        give_code(plhs, MPI_ERR_OTHER);
        return NULL;
    }
    wrong = matlabmpi_begin();
    if (wrong)
        return wrong;
    has_left = 0;
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_ARE_FATAL);
    give_code(plhs, MPI_SUCCESS);
    return NULL;
}

const char *mpitb_finalize(int nlhs, mxArray *plhs[], int nrhs, const mxArray *prhs[])
{
    const char *wrong = NULL;
    (void)nlhs, (void)nrhs, (void)prhs;
    forget_requests();
    if (has_launcher())
        wrong = matlabmpi_end();
    else
        has_left = 1;
    if (!wrong)
        give_code(plhs, MPI_SUCCESS);
    return wrong;
}

static const char *give_flag(int nlhs, mxArray *plhs[], int code, int flag)
{
    give_code(plhs, code);
    give(nlhs, plhs, 1, mxCreateDoubleScalar(flag != 0));
    return NULL;
}

const char *mpitb_initialized(int nlhs, mxArray *plhs[], int nrhs, const mxArray *prhs[])
{
    int flag = 0, code = MPI_Initialized(&flag);
    (void)nrhs, (void)prhs;
    return give_flag(nlhs, plhs, code, flag);
}

const char *mpitb_finalized(int nlhs, mxArray *plhs[], int nrhs, const mxArray *prhs[])
{
    int flag = 0, code = MPI_Finalized(&flag);
    (void)nrhs, (void)prhs;
    return give_flag(nlhs, plhs, code, flag || has_left);
}

const char *mpitb_wtime(int nlhs, mxArray *plhs[], int nrhs, const mxArray *prhs[])
{
    (void)nlhs, (void)nrhs, (void)prhs;
    plhs[0] = mxCreateDoubleScalar(MPI_Wtime());
    return NULL;
}

const char *mpitb_wtick(int nlhs, mxArray *plhs[], int nrhs, const mxArray *prhs[])
{
    (void)nlhs, (void)nrhs, (void)prhs;
    plhs[0] = mxCreateDoubleScalar(MPI_Wtick());
    return NULL;
}

const char *mpitb_address(int nlhs, mxArray *plhs[], int nrhs, const mxArray *prhs[])
{
    (void)nrhs;
    if (type_of_elements(prhs[0]) == MPI_DATATYPE_NULL)
        return argument_problem("a full array has an address; this is a %s", mxGetClassName(prhs[0]));
    give_code(plhs, MPI_SUCCESS);
    give(nlhs, plhs, 1, number_of_handle(mxGetData(prhs[0])));
    return NULL;
}

/* ---- handles that are freed: the variable of the caller becomes null ---- */

const char *give_freed(mxArray *plhs[], int code, double null)
{
    char name[64];
    give_code(plhs, code);
    if (code == MPI_SUCCESS && is_caller_variable(0, name)) {
        mxArray *value = mxCreateDoubleScalar(null);
        assign_in_caller(name, value);
        mxDestroyArray(value);
    }
    return NULL;
}

#define FREE(function, type, mpi_free) \
    const char *function(int nlhs, mxArray *plhs[], int nrhs, const mxArray *prhs[]) \
    { \
        void *handle; \
        const char *wrong = read_handle(prhs[0], #type, &handle); \
        int code = wrong ? MPI_ERR_ARG : mpi_free((MPI_##type *)&handle); \
        (void)nlhs, (void)nrhs; \
        return wrong ? wrong : give_freed(plhs, code, (double)(uintptr_t)handle); \
    }

FREE(mpitb_comm_free, Comm, MPI_Comm_free)
FREE(mpitb_comm_disconnect, Comm, MPI_Comm_disconnect)
FREE(mpitb_group_free, Group, MPI_Group_free)
FREE(mpitb_info_free, Info, MPI_Info_free)
FREE(mpitb_errhandler_free, Errhandler, MPI_Errhandler_free)

/* ---- groups and topologies ---- */

/* Rows of [first last step]. */
static const char *group_of_ranges(int nlhs, mxArray *plhs[], const mxArray *prhs[],
                                   int make(MPI_Group, int, int (*)[3], MPI_Group *))
{
    struct call call;
    struct list list;
    void *handle;
    MPI_Group made = MPI_GROUP_NULL;
    int (*ranges)[3], i, k, count;
    const char *wrong = read_handle(prhs[0], "Group", &handle);
    memset(&call, 0, sizeof call);
    if (!wrong)
        wrong = read_list(&call, prhs[1], 'I', &list);
    if (!wrong && list.length > 0 && mxGetN(prhs[1]) != 3)
        wrong = argument_problem("ranges are rows of three numbers, [first last step]");
    if (!wrong) {
        count = list.length / 3;
        ranges = mxCalloc((size_t)count + 1, sizeof *ranges);
        for (i = 0; i < count; i++)
            for (k = 0; k < 3; k++)
                ranges[i][k] = list.of.ints[i + k * count];
        give_code(plhs, make(handle, count, ranges, &made));
        give(nlhs, plhs, 1, number_of_handle(made));
    }
    call_release(&call);
    return wrong;
}

const char *mpitb_group_range_incl(int nlhs, mxArray *plhs[], int nrhs, const mxArray *prhs[])
{
    (void)nrhs;
    return group_of_ranges(nlhs, plhs, prhs, MPI_Group_range_incl);
}

const char *mpitb_group_range_excl(int nlhs, mxArray *plhs[], int nrhs, const mxArray *prhs[])
{
    (void)nrhs;
    return group_of_ranges(nlhs, plhs, prhs, MPI_Group_range_excl);
}

/* A number of dimensions, or their sizes with zeros for those that are free. */
const char *mpitb_dims_create(int nlhs, mxArray *plhs[], int nrhs, const mxArray *prhs[])
{
    struct call call;
    struct list list;
    int nodes, i, *dims, count;
    mxArray *row;
    const char *wrong = read_number(prhs[0], "nnodes", &nodes);
    (void)nrhs;
    memset(&call, 0, sizeof call);
    if (!wrong)
        wrong = read_list(&call, prhs[1], 'I', &list);
    if (!wrong && list.length == 1 && (list.of.ints[0] < 1 || list.of.ints[0] > 1000))
        wrong = argument_problem("the number of dimensions is 1 to 1000, not %d", list.of.ints[0]);
    if (!wrong) {
        count = list.length == 1 ? list.of.ints[0] : list.length;
        dims = mxCalloc((size_t)count + 1, sizeof *dims);
        if (list.length > 1)
            memcpy(dims, list.of.ints, (size_t)count * sizeof *dims);
        give_code(plhs, MPI_Dims_create(nodes, count, dims));
        row = mxCreateDoubleMatrix(1, (mwSize)count, mxREAL);
        for (i = 0; i < count; i++)
            mxGetDoubles(row)[i] = dims[i];
        give(nlhs, plhs, 1, row);
    }
    call_release(&call);
    return wrong;
}

/* ---- info objects ---- */

static const char *read_key_of_info(const mxArray *prhs[], void **handle, char key[MPI_MAX_INFO_KEY + 1])
{
    const char *wrong = read_handle(prhs[0], "Info", handle);
    if (!wrong && (!mxIsChar(prhs[1]) || mxGetString(prhs[1], key, MPI_MAX_INFO_KEY + 1) != 0))
        wrong = argument_problem("a key is a text of at most %d characters", MPI_MAX_INFO_KEY);
    return wrong;
}

/* `bytes` counts the zero at the end, and is 0 where there is no such key. */
static int length_of_value(void *handle, const char *key, int *bytes, int *flag)
{
    int code;
    *bytes = *flag = 0;
    code = MPI_Info_get_string(handle, key, bytes, NULL, flag);
    if (!*flag)
        *bytes = 0;
    return code;
}

const char *mpitb_info_get(int nlhs, mxArray *plhs[], int nrhs, const mxArray *prhs[])
{
    void *handle;
    char key[MPI_MAX_INFO_KEY + 1], *value;
    int bytes, flag, code;
    const char *wrong = read_key_of_info(prhs, &handle, key);
    (void)nrhs;
    if (wrong)
        return wrong;
    code = length_of_value(handle, key, &bytes, &flag);
    value = mxCalloc((size_t)bytes + 1, 1);
    if (flag)
        code = MPI_Info_get_string(handle, key, &bytes, value, &flag);
    give_flag(nlhs, plhs, code, flag);
    give(nlhs, plhs, 2, mxCreateString(value));
    return NULL;
}

const char *mpitb_info_get_valuelen(int nlhs, mxArray *plhs[], int nrhs, const mxArray *prhs[])
{
    void *handle;
    char key[MPI_MAX_INFO_KEY + 1];
    int bytes, flag;
    const char *wrong = read_key_of_info(prhs, &handle, key);
    (void)nrhs;
    if (wrong)
        return wrong;
    give_code(plhs, length_of_value(handle, key, &bytes, &flag));
    give(nlhs, plhs, 1, mxCreateDoubleScalar(flag ? bytes - 1 : 0));
    give(nlhs, plhs, 2, mxCreateDoubleScalar(flag));
    return NULL;
}

/* ---- processes ---- */

static const char *read_word(const mxArray *value, const char *what, char **word)
{
    size_t room = value ? 4 * mxGetNumberOfElements(value) + 1 : 1;
    if (!value || !mxIsChar(value))
        return argument_problem("%s must be a text", what);
    *word = mxCalloc(room, 1);
    mxGetString(value, *word, room);
    return NULL;
}

/* A cell of texts, or MPI_ARGV_NULL. */
static const char *read_words(const mxArray *value, char ***words)
{
    mwSize count = value && mxIsCell(value) ? mxGetNumberOfElements(value) : 0, i;
    const char *wrong = NULL;
    if (!value || (!mxIsCell(value) && !mxIsNumeric(value)))
        return argument_problem("arguments of a program are a cell of texts");
    *words = mxCalloc(count + 1, sizeof **words);
    for (i = 0; i < count && !wrong; i++)
        wrong = read_word(mxGetCell(value, i), "an argument of a program", &(*words)[i]);
    return wrong;
}

static mxArray *codes(int count, const int numbers[], int column)
{
    mxArray *array = column ? mxCreateDoubleMatrix((mwSize)count, 1, mxREAL) : mxCreateDoubleMatrix(1, (mwSize)count, mxREAL);
    int i;
    for (i = 0; i < count; i++)
        mxGetDoubles(array)[i] = numbers[i];
    return array;
}

const char *mpitb_comm_spawn(int nlhs, mxArray *plhs[], int nrhs, const mxArray *prhs[])
{
    struct call call;
    MPI_Comm comm, children = MPI_COMM_NULL;
    MPI_Info info;
    char *program, **arguments;
    int processes, root, *errs;
    const char *wrong = read_communicator(prhs[5], &comm);
    (void)nrhs;
    memset(&call, 0, sizeof call);
    if (!wrong)
        wrong = read_word(prhs[0], "the program", &program);
    if (!wrong)
        wrong = read_words(prhs[1], &arguments);
    if (!wrong)
        wrong = read_number(prhs[2], "the number of processes", &processes);
    if (!wrong)
        wrong = read_info(&call, prhs[3], &info);
    if (!wrong)
        wrong = read_number(prhs[4], "root", &root);
    if (!wrong && processes < 0)
        wrong = argument_problem("%d processes cannot be spawned", processes);
    if (!wrong) {
        errs = mxCalloc((size_t)processes + 1, sizeof *errs);
        give_code(plhs, MPI_Comm_spawn(program, arguments, processes, info, root, comm, &children, errs));
        give(nlhs, plhs, 1, number_of_handle(children));
        give(nlhs, plhs, 2, codes(processes, errs, 0));
    }
    call_release(&call);
    return wrong;
}

/* The four cells of MPI_Comm_spawn_multiple. */
struct programs {
    int count;
    char **names;
    char ***arguments;
    int *processes;
    MPI_Info *infos;
    int all;
};

static const char *read_program(const mxArray *prhs[], mwSize i, struct programs *programs)
{
    void *handle;
    const mxArray *processes = mxGetCell(prhs[2], i), *info = mxGetCell(prhs[3], i);
    const char *wrong = read_word(mxGetCell(prhs[0], i), "a program", &programs->names[i]);
    if (!wrong)
        wrong = read_words(mxGetCell(prhs[1], i), &programs->arguments[i]);
    if (!wrong && (!processes || !info))
        wrong = argument_problem("a number of processes or an info object is missing");
    if (!wrong)
        wrong = read_number(processes, "the number of processes", &programs->processes[i]);
    if (!wrong)
        wrong = read_handle(info, "Info", &handle);
    if (wrong)
        return wrong;
    programs->infos[i] = handle;
    programs->all += programs->processes[i] < 0 ? 0 : programs->processes[i];
    return NULL;
}

static const char *read_programs(const mxArray *prhs[], struct programs *programs)
{
    mwSize count = mxIsCell(prhs[0]) ? mxGetNumberOfElements(prhs[0]) : 0, i;
    const char *wrong = NULL;
    int k;
    for (k = 0; k < 4; k++)
        if (!mxIsCell(prhs[k]) || (mwSize)mxGetNumberOfElements(prhs[k]) != count)
            return argument_problem("cprg, carg, cnprc and cinf are cells of one size, with a program's name, arguments, number of "
                                    "processes and info object");
    programs->count = (int)count;
    programs->all = 0;
    programs->names = mxCalloc(count + 1, sizeof *programs->names);
    programs->arguments = mxCalloc(count + 1, sizeof *programs->arguments);
    programs->processes = mxCalloc(count + 1, sizeof *programs->processes);
    programs->infos = mxCalloc(count + 1, sizeof *programs->infos);
    for (i = 0; i < count && !wrong; i++)
        wrong = read_program(prhs, i, programs);
    return wrong;
}

const char *mpitb_comm_spawn_multiple(int nlhs, mxArray *plhs[], int nrhs, const mxArray *prhs[])
{
    struct programs programs = {0};
    MPI_Comm comm, children = MPI_COMM_NULL;
    int root, *errs;
    const char *wrong = read_communicator(prhs[5], &comm);
    (void)nrhs;
    if (!wrong)
        wrong = read_number(prhs[4], "root", &root);
    if (!wrong)
        wrong = read_programs(prhs, &programs);
    if (wrong)
        return wrong;
    errs = mxCalloc((size_t)programs.all + 1, sizeof *errs);
    give_code(plhs, MPI_Comm_spawn_multiple(programs.count, programs.names, programs.arguments, programs.processes, programs.infos, root,
                                            comm, &children, errs));
    give(nlhs, plhs, 1, number_of_handle(children));
    give(nlhs, plhs, 2, codes(programs.all, errs, 1));
    return NULL;
}
