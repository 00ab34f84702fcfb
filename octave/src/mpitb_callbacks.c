/* mpitb_callbacks.c: MPI-TB's attributes (section 7.7) and error handlers (section 9.3), which call functions of the program.
 *
 * The value of an attribute is a persistent array, a reference to the program's. Functions that copy and delete it are called where MPI
 * does so, and an error in one is the code of the MPI function. An error handler is called when the MPI function in which the error
 * occurred has returned, not from inside, so that it may do what it likes.
 */
#include "mpitb.h"
#include "mex_shared.h"
#include "problem.h"

#include <stdlib.h>
#include <string.h>

/* ---- attributes ---- */

/* What a key knows; lasts as long as the process, since communicators may have attributes of a key that is freed. */
struct key {
    /* Names of functions of the language; "NULL", and "DUP" of the first. */
    char copy[64];
    char remove[64];
    mxArray *extra;
};

static int copy_attribute(MPI_Comm comm, int number, void *extra, void *value, void *copy, int *flag)
{
    struct key *key = extra;
    mxArray *arguments[5], *results[3] = {NULL, NULL, NULL}, *error;
    int code = MPI_SUCCESS;
    *flag = 0;
    if (strcmp(key->copy, "NULL") == 0)
        return MPI_SUCCESS;
    if (strcmp(key->copy, "DUP") == 0) {
        results[1] = same_value(value);
        *flag = 1;
    } else {
        arguments[0] = mxCreateString(key->copy);
        arguments[1] = number_of_handle(comm);
        arguments[2] = mxCreateDoubleScalar(number);
        arguments[3] = key->extra;
        arguments[4] = value;
        error = mexCallMATLABWithTrap(3, results, 5, arguments, "feval");
        code = error || !results[2] ? MPI_ERR_OTHER : (int)mxGetScalar(results[0]);
        *flag = code == MPI_SUCCESS && mxGetScalar(results[2]) != 0;
    }
    if (*flag) {
        mexMakeArrayPersistent(results[1]);
        *(void **)copy = results[1];
    }
    return code;
}

static int delete_attribute(MPI_Comm comm, int number, void *value, void *extra)
{
    struct key *key = extra;
    mxArray *arguments[5], *result = NULL, *error;
    int code = MPI_SUCCESS;
    if (strcmp(key->remove, "NULL") != 0) {
        arguments[0] = mxCreateString(key->remove);
        arguments[1] = number_of_handle(comm);
        arguments[2] = mxCreateDoubleScalar(number);
        arguments[3] = value;
        arguments[4] = key->extra;
        error = mexCallMATLABWithTrap(1, &result, 5, arguments, "feval");
        code = error || !result ? MPI_ERR_OTHER : (int)mxGetScalar(result);
    }
    if (code == MPI_SUCCESS)
        mxDestroyArray(value);
    return code;
}

/* 'NULL', 'MPI_NULL_COPY_FN' and the like, the values of these constants, or the name of a function. */
static const char *read_callback(const mxArray *value, char name[64])
{
    static const char *const nulls[] = {"NULL_FN", "NULL_COPY_FN", "MPI_NULL_COPY_FN", "NULL_DELETE_FN", "MPI_NULL_DELETE_FN"};
    size_t i;
    *name = 0;
    if (mxIsChar(value))
        mxGetString(value, name, 64);
    else if (mxIsNumeric(value) && mxGetNumberOfElements(value) == 1)
        strcpy(name, mxGetScalar(value) == 0 ? "NULL" : mxGetScalar(value) == (double)(uintptr_t)MPI_DUP_FN ? "DUP" : "");
    if (!*name)
        return argument_problem("a function is given by its name, or as 'NULL' or 'DUP'");
    for (i = 0; i < sizeof nulls / sizeof nulls[0]; i++)
        if (strcmp(nulls[i], name) == 0)
            strcpy(name, "NULL");
    if (strcmp(name, "DUP_FN") == 0 || strcmp(name, "MPI_DUP_FN") == 0)
        strcpy(name, "DUP");
    return NULL;
}

const char *mpitb_keyval_create(int nlhs, mxArray *plhs[], int nrhs, const mxArray *prhs[])
{
    struct key *key = calloc(1, sizeof *key);
    int number = MPI_KEYVAL_INVALID;
    const char *wrong = key ? read_callback(prhs[0], key->copy) : argument_problem("out of memory for a key");
    (void)nrhs;
    if (!wrong)
        wrong = read_callback(prhs[1], key->remove);
    if (wrong) {
        free(key);
        return wrong;
    }
    key->extra = same_value(prhs[2]);
    mexMakeArrayPersistent(key->extra);
    give_code(plhs, MPI_Comm_create_keyval(copy_attribute, delete_attribute, &number, key));
    give(nlhs, plhs, 1, mxCreateDoubleScalar(number));
    return NULL;
}

const char *mpitb_keyval_free(int nlhs, mxArray *plhs[], int nrhs, const mxArray *prhs[])
{
    int number, code;
    const char *wrong = read_number(prhs[0], "a key", &number);
    (void)nlhs, (void)nrhs;
    if (wrong)
        return wrong;
    code = MPI_Comm_free_keyval(&number);
    return give_freed(plhs, code, number);
}

const char *mpitb_attr_put(int nlhs, mxArray *plhs[], int nrhs, const mxArray *prhs[])
{
    MPI_Comm comm;
    mxArray *kept;
    int number, code;
    const char *wrong = read_communicator(prhs[0], &comm);
    (void)nlhs, (void)nrhs;
    if (!wrong)
        wrong = read_number(prhs[1], "a key", &number);
    if (wrong)
        return wrong;
    kept = same_value(prhs[2]);
    mexMakeArrayPersistent(kept);
    code = MPI_Comm_set_attr(comm, number, kept);
    if (code != MPI_SUCCESS)
        mxDestroyArray(kept);
    give_code(plhs, code);
    return NULL;
}

static int is_predefined(int number)
{
    static const int keys[] = {MPI_TAG_UB, MPI_HOST, MPI_IO, MPI_WTIME_IS_GLOBAL, MPI_UNIVERSE_SIZE, MPI_APPNUM, MPI_LASTUSEDCODE};
    size_t i;
    for (i = 0; i < sizeof keys / sizeof keys[0]; i++)
        if (keys[i] == number)
            return 1;
    return 0;
}

const char *mpitb_attr_get(int nlhs, mxArray *plhs[], int nrhs, const mxArray *prhs[])
{
    MPI_Comm comm;
    void *value = NULL;
    int number, flag = 0, code;
    const char *wrong = read_communicator(prhs[0], &comm);
    (void)nrhs;
    if (!wrong)
        wrong = read_number(prhs[1], "a key", &number);
    if (wrong)
        return wrong;
    code = MPI_Comm_get_attr(comm, number, &value, &flag);
    flag = flag && code == MPI_SUCCESS;
    give_code(plhs, code);
    give(nlhs, plhs, 1, !flag ? mxCreateDoubleMatrix(0, 0, mxREAL) : is_predefined(number) ? mxCreateDoubleScalar(*(int *)value)
                                                                                      : same_value(value));
    give(nlhs, plhs, 2, mxCreateDoubleScalar(flag));
    return NULL;
}

/* ---- error handlers ---- */

struct handler {
    MPI_Errhandler handle;
    char function[64];
    struct handler *next;
};

static struct handler *handlers;

/* Errors of the call that runs, whose handlers are still to be called. */
struct error {
    MPI_Comm comm;
    int code;
    const struct handler *handler;
};

enum { ERRORS_MAX = 8 };
static struct error errors[ERRORS_MAX];
static int error_count;

static void note_error(MPI_Comm *comm, int *code, ...)
{
    MPI_Errhandler handle = MPI_ERRHANDLER_NULL;
    struct handler *handler;
    MPI_Comm_get_errhandler(*comm, &handle);
    for (handler = handlers; handler && handler->handle != handle; handler = handler->next)
        ;
    if (handler && error_count < ERRORS_MAX) {
        errors[error_count].comm = *comm;
        errors[error_count].code = *code;
        errors[error_count++].handler = handler;
    }
    MPI_Errhandler_free(&handle);
}

void run_error_handlers(void)
{
    while (error_count > 0) {
        struct error error = errors[0];
        mxArray *arguments[5];
        char text[MPI_MAX_ERROR_STRING + 1] = "";
        int error_class = MPI_ERR_UNKNOWN, length = 0, i;
        memmove(errors, errors + 1, (size_t)--error_count * sizeof *errors);
        MPI_Error_class(error.code, &error_class);
        MPI_Error_string(error.code, text, &length);
        arguments[0] = mxCreateString(error.handler->function);
        arguments[1] = number_of_handle(error.comm);
        arguments[2] = mxCreateDoubleScalar(error_class);
        arguments[3] = mxCreateDoubleScalar(error.code);
        arguments[4] = mxCreateString(text);
        mexCallMATLAB(0, NULL, 5, arguments, "feval");
        for (i = 0; i < 5; i++)
            mxDestroyArray(arguments[i]);
    }
}

const char *mpitb_errhandler_create(int nlhs, mxArray *plhs[], int nrhs, const mxArray *prhs[])
{
    struct handler *handler;
    int code;
    (void)nrhs;
    if (!mxIsChar(prhs[0]) || mxGetNumberOfElements(prhs[0]) >= sizeof handler->function)
        return argument_problem("the name of a function is wanted, a text");
    handler = calloc(1, sizeof *handler);
    if (!handler)
        return argument_problem("out of memory for an error handler");
    mxGetString(prhs[0], handler->function, sizeof handler->function);
    code = MPI_Comm_create_errhandler(note_error, &handler->handle);
    handler->next = handlers;
    handlers = handler;
    give_code(plhs, code);
    give(nlhs, plhs, 1, number_of_handle(handler->handle));
    return NULL;
}

/* MPI-TB's programs expect errors without a communicator at MPI_COMM_WORLD, as the standard had it before version 4. */
const char *mpitb_errhandler_set(int nlhs, mxArray *plhs[], int nrhs, const mxArray *prhs[])
{
    MPI_Comm comm;
    void *handle;
    int code;
    const char *wrong = read_communicator(prhs[0], &comm);
    (void)nlhs, (void)nrhs;
    if (!wrong)
        wrong = read_handle(prhs[1], "Errhandler", &handle);
    if (wrong)
        return wrong;
    code = MPI_Comm_set_errhandler(comm, handle);
    if (code == MPI_SUCCESS && comm == MPI_COMM_WORLD)
        MPI_Comm_set_errhandler(MPI_COMM_SELF, handle);
    give_code(plhs, code);
    return NULL;
}

const char *mpitb_errhandler_get(int nlhs, mxArray *plhs[], int nrhs, const mxArray *prhs[])
{
    MPI_Comm comm;
    MPI_Errhandler handle = MPI_ERRHANDLER_NULL;
    const char *wrong = read_communicator(prhs[0], &comm);
    (void)nrhs;
    if (wrong)
        return wrong;
    give_code(plhs, MPI_Comm_get_errhandler(comm, &handle));
    give(nlhs, plhs, 1, number_of_handle(handle));
    return NULL;
}
