/* mpitb.c: see mpitb.h.  The table, the call of a row, results, and the variables of the caller. */
#include "mpitb.h"
#include "mex_shared.h"
#include "problem.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- the table ---- */

struct function {
    const char *name;
    const char *usage;
    struct row row;
    operate *run;
    int anytime;
    int constant;
    double value;
};

#define HANDLE(handle) (double)(uintptr_t)(handle)

#define PLAIN(name, usage, help, signature, expression) \
    static int plain_##name(struct call *call) { (void)call; return expression; }
#define ANYTIME(name, usage, help, function)
#define OWN ANYTIME
#define CALLER ANYTIME
#define CONSTANT(name, help, value)
#include "mpitb.def"
#undef PLAIN
#undef ANYTIME
#undef OWN
#undef CALLER
#undef CONSTANT

#define PLAIN(name, usage, help, signature, expression) \
    {"MPI_" #name, usage, {"MPI_" #name, signature, plain_##name}, NULL, 0, 0, 0},
#define ANYTIME(name, usage, help, function) {"MPI_" #name, usage, {NULL, NULL, NULL}, function, 1, 0, 0},
#define OWN(name, usage, help, function) {"MPI_" #name, usage, {NULL, NULL, NULL}, function, 0, 0, 0},
#define CALLER OWN
#define CONSTANT(name, help, value) {"MPI_" #name, "number = MPI_" #name " ()", {NULL, NULL, NULL}, NULL, 1, 1, value},
static const struct function FUNCTIONS[] = {
#include "mpitb.def"
};
enum { FUNCTION_COUNT = sizeof FUNCTIONS / sizeof FUNCTIONS[0] };

static const struct function *find_function(const char *name)
{
    static struct names names = {FUNCTIONS, sizeof FUNCTIONS[0], FUNCTION_COUNT, {0}};
    int found = find_name(&names, name);
    return found < 0 ? NULL : &FUNCTIONS[found];
}

/* ---- the call ---- */

/* Of the call that runs: whether a function of the language has made it, and the texts of its arguments once somebody has asked. */
static int through_language;
static mxArray *argument_texts;

/* Items of a list in a usage, from `at` to the character `end`; -1 - n for n and any number more. */
static int count_items(const char *at, char end)
{
    int count = 0, more = 0, in_item = 0;
    for (; *at && *at != end; at++) {
        if (strncmp(at, "...", 3) == 0)
            more = 1;
        if (*at != ' ' && *at != ',' && *at != '.' && !in_item) {
            in_item = 1;
            count++;
        }
        if (*at == ',')
            in_item = 0;
    }
    return more ? -1 - count : count;
}

static const char *check_counts(const struct function *function, int nlhs, int nrhs)
{
    int outputs = *function->usage == '[' ? count_items(function->usage + 1, ']') : 1;
    int inputs = count_items(strchr(function->usage, '(') + 1, ')');
    if (nlhs > outputs || (inputs >= 0 ? nrhs != inputs : nrhs < -1 - inputs))
        return argument_problem("%d arguments and %d outputs where the form is %s", nrhs, nlhs, function->usage);
    return NULL;
}

static int may_be_called(const struct function *function)
{
    return (is_running() && !is_between_programs()) || function->anytime || (function->row.signature && *function->row.signature == '!');
}

/* Rows of call.h do not know what their arguments are called. */
static const char *with_form(const char *wrong, const char *usage)
{
    char text[400];
    if (!wrong || strcmp(identifier_of(wrong), "mpi:argument") != 0)
        return wrong;
    snprintf(text, sizeof text, "%s", wrong);
    return argument_problem("%s; the form is %s", text, usage);
}

static const char *run(const char *name, int nlhs, mxArray *plhs[], int nrhs, const mxArray *prhs[])
{
    const struct function *function = find_function(name);
    const char *wrong;
    if (!function)
        return argument_problem("%s is no function of MPI-TB", name);
    wrong = check_counts(function, nlhs, nrhs);
    if (!wrong && !may_be_called(function))
        wrong = state_problem(exchange.finalized || is_between_programs() ? "MPI has been finalized" : "MPI is not running; MPI_Init starts it");
    if (wrong)
        return wrong;
    if (function->constant) {
        plhs[0] = mxCreateDoubleScalar(function->value);
        return NULL;
    }
    wrong = function->run ? function->run(nlhs, plhs, nrhs, prhs)
                          : with_form(call_plain(&function->row, nlhs, plhs, nrhs, prhs), function->usage);
    run_error_handlers();
    return wrong;
}

void mpitb_function(int nlhs, mxArray *plhs[], int nrhs, const mxArray *prhs[])
{
    char name[64] = "";
    const char *wrong;
    through_language = strcmp(mexFunctionName(), "mpitb_call") == 0;
    argument_texts = NULL;
    if (!through_language)
        wrong = run(mexFunctionName(), nlhs, plhs, nrhs, prhs);
    else if (nrhs < 1 || !mxIsChar(prhs[0]) || mxGetString(prhs[0], name, sizeof name) != 0)
        wrong = argument_problem("mpitb_call(name, ...) is wanted");
    else
        wrong = run(name, nlhs, plhs, nrhs - 1, prhs + 1);
    if (!wrong)
        return;
    if (through_language)
        mexErrMsgIdAndTxt(identifier_of(wrong), "%s: %s", name, wrong);
#ifdef POSTRIDER_OCTAVE
    /* Octave puts the name of the function in front by itself. */
    mexErrMsgIdAndTxt(identifier_of(wrong), "%s", wrong);
#else
    mexErrMsgIdAndTxt(identifier_of(wrong), "%s: %s", mexFunctionName(), wrong);
#endif
}

/* ---- results ---- */

void give_code(mxArray *plhs[], int code)
{
    plhs[0] = mxCreateDoubleScalar(code);
}

void give(int nlhs, mxArray *plhs[], int k, mxArray *value)
{
    if (k < nlhs)
        plhs[k] = value;
    else
        mxDestroyArray(value);
}

mxArray *number_of_handle(const void *handle)
{
    return mxCreateDoubleScalar(HANDLE(handle));
}

mxArray *status_structs(int count, const MPI_Status statuses[])
{
    static const char *fields[] = {"src", "tag", "err", "len"};
    mxArray *structs = mxCreateStructMatrix(1, (mwSize)count, 4, fields);
    int i, cancelled;
    for (i = 0; i < count; i++) {
        MPI_Count bytes = 0;
        MPI_Test_cancelled(&statuses[i], &cancelled);
        MPI_Get_elements_c(&statuses[i], MPI_BYTE, &bytes);
        mxSetFieldByNumber(structs, i, 0, mxCreateDoubleScalar(cancelled ? CANCEL_SOURCE : statuses[i].MPI_SOURCE));
        mxSetFieldByNumber(structs, i, 1, mxCreateDoubleScalar(statuses[i].MPI_TAG));
        mxSetFieldByNumber(structs, i, 2, mxCreateDoubleScalar(statuses[i].MPI_ERROR));
        mxSetFieldByNumber(structs, i, 3, mxCreateDoubleScalar(cancelled || bytes < 0 ? 0 : (double)bytes));
    }
    return structs;
}

int raise_code(MPI_Comm comm, int code)
{
    MPI_Comm_call_errhandler(comm, code);
    return code;
}

/* ---- variables of the caller ---- */

/* The text of an argument as the program has it, or "".  Octave gives a cell of all; c{:} in front makes one text of several arguments. */
static void text_of_argument(int argument, char text[64])
{
    *text = 0;
    if (!through_language)
        return;
#ifdef POSTRIDER_OCTAVE
    if (!argument_texts) {
        mxArray *name = mxCreateString(".argn.");
        mexCallMATLAB(1, &argument_texts, 1, &name, "__varval__");
        mxDestroyArray(name);
    }
    if (argument_texts && mxIsCell(argument_texts) && argument < (int)mxGetNumberOfElements(argument_texts))
        mxGetString(mxGetCell(argument_texts, (mwSize)argument), text, 64);
#else
    {
        mxArray *number = mxCreateDoubleScalar(argument + 1), *name = NULL;
        mexCallMATLAB(1, &name, 1, &number, "inputname");
        mxGetString(name, text, 64);
    }
#endif
}

static int is_name(const char *text)
{
    if (!(*text == '_' || (*text >= 'a' && *text <= 'z') || (*text >= 'A' && *text <= 'Z')))
        return 0;
    return text[strspn(text, "_abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789")] == 0;
}

int is_caller_variable(int argument, char name[64])
{
    int i;
    char before[64];
    text_of_argument(argument, name);
    for (i = 0; i < argument && is_name(name); i++) {
        text_of_argument(i, before);
        if (strstr(before, "{:}"))
            return 0;
    }
    return is_name(name);
}

const char *caller_variable(int argument, char name[64])
{
    if (is_caller_variable(argument, name))
        return NULL;
    return argument_problem("argument %d is changed in place and has to be the name of a variable%s%s; write x = ..., and then "
                            "x for this argument", argument + 1, *name ? ", not " : "", name);
}

int is_written(int argument, const char *text)
{
    char written[64];
    text_of_argument(argument, written);
    return strcmp(written, text) == 0;
}

void assign_in_caller(const char *name, mxArray *value)
{
    mxArray *arguments[3];
    arguments[0] = mxCreateString("caller");
    arguments[1] = mxCreateString(name);
    arguments[2] = value;
    mexCallMATLAB(0, NULL, 3, arguments, "assignin");
    mxDestroyArray(arguments[0]);
    mxDestroyArray(arguments[1]);
}

mxArray *value_in_caller(const char *name)
{
    mxArray *arguments[2], *value = NULL, *error;
    char expression[96];
#ifdef POSTRIDER_OCTAVE
    snprintf(expression, sizeof expression, "__varval__ ('%s')", name);
#else
    snprintf(expression, sizeof expression, "%s", name);
#endif
    arguments[0] = mxCreateString("caller");
    arguments[1] = mxCreateString(expression);
    error = mexCallMATLABWithTrap(1, &value, 2, arguments, "evalin");
    mxDestroyArray(arguments[0]);
    mxDestroyArray(arguments[1]);
    return error ? NULL : value;
}

/* ---- arrays that take the place of variables ---- */

void fill_target(const mxArray *before, struct target *target)
{
    int bytes;
    target->type = type_of_elements(before);
    MPI_Type_size(target->type, &bytes);
    target->element_bytes = (size_t)bytes;
    target->array = array_like(before, mxGetNumberOfDimensions(before), mxGetDimensions(before));
    target->before = before;
    target->address = mxGetData(target->array);
    target->count = (MPI_Count)mxGetNumberOfElements(target->array);
}

const char *open_target(int argument, const mxArray *before, struct target *target)
{
    const char *wrong = caller_variable(argument, target->name);
    if (wrong)
        return wrong;
    if (type_of_elements(before) == MPI_DATATYPE_NULL)
        return argument_problem("%s is a %s%s; messages are full arrays of numbers, characters or logical values, and MPI_Pack makes "
                                "one of any other variable", target->name, mxIsSparse(before) ? "sparse " : "", mxGetClassName(before));
    fill_target(before, target);
    return NULL;
}

void keep_rest(struct target *target, MPI_Count first)
{
    size_t done = (size_t)first * target->element_bytes;
    if (first < target->count)
        memcpy((char *)target->address + done, (const char *)mxGetData(target->before) + done,
               (size_t)target->count * target->element_bytes - done);
}

void close_target(struct target *target)
{
    assign_in_caller(target->name, target->array);
    mxDestroyArray(target->array);
}

const char *share_target(struct target *target, mxArray **kept)
{
#ifdef POSTRIDER_OCTAVE
    keep_rest(target, 0);
    *kept = same_value(target->array);
    mexMakeArrayPersistent(*kept);
    assign_in_caller(target->name, *kept);
    mxDestroyArray(target->array);
    target->address = mxGetData(*kept);
    return NULL;
#else
    (void)target, (void)kept;
    return argument_problem("MATLAB has no memory that a variable and a pending message could share; MPI_Recv receives into a variable, "
                            "and c.irecv of mpi.Comm does not wait");
#endif
}

MPI_Count elements_received(const MPI_Status *status, MPI_Datatype type)
{
    MPI_Count count = 0;
    MPI_Get_count_c(status, type, &count);
    return count < 0 ? 0 : count;
}
