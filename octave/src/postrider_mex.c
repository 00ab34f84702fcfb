/* postrider_mex.c: which function of the MEX file a call is for.
 *
 * One MEX file serves every function: it is installed once for each name of its
 * tables (as links to one file, so that there is one state), and finds out
 * by mexFunctionName() which one it is.  So a call costs no function in the
 * language itself.
 */
#include "call.h"
#include "matlabmpi.h"
#include "mex_shared.h"
#include "problem.h"

#include <stdio.h>
#include <string.h>

#ifdef POSTRIDER_OCTAVE
/* Octave looks for this name to know that complex arrays are interleaved. */
extern const int __mx_has_interleaved_complex__;
const int __mx_has_interleaved_complex__ = 1;
#endif

/* ---- dispatch ---- */

static const struct operation *find_operation(const struct operation *table, const char *name)
{
    for (; table->name; table++)
        if (strcmp(table->name, name) == 0)
            return table;
    return NULL;
}

/* A function of mpi.* by its full name, such as "Comm.Send" or "mpi.wtime". */
static const char *call_by_name(const char *name, int nlhs, mxArray *plhs[], int nrhs, const mxArray *prhs[], int *found)
{
    static const struct operation *const TABLES[] = {value_operations, request_operations, buffer_operations,
                                                    object_operations, packing_operations, inquiry_operations};
    const char *wrong = call_row(name, nlhs, plhs, nrhs, prhs, found);
    size_t i;
    for (i = 0; !*found && i < sizeof TABLES / sizeof TABLES[0]; i++) {
        const struct operation *operation = find_operation(TABLES[i], name);
        *found = operation != NULL;
        if (operation && !is_running() && strcmp(name, "state") != 0 && strcmp(name, "Session.begin") != 0 &&
            strcmp(name, "Request.release") != 0 && strcmp(name, "Buffer.release") != 0)
            return state_problem(exchange.finalized ? "MPI has been finalized" : "MPI is not running; c = mpi.world starts it");
        if (operation)
            wrong = nlhs > operation->outputs_max && nlhs > 1 ? argument_problem("too many outputs")
                                                              : operation->run(nlhs, plhs, nrhs, prhs);
    }
    return wrong;
}

/* A method of the class of the first argument, else a function of the package. */
static const char *call_method(const char *name, int nlhs, mxArray *plhs[], int nrhs, const mxArray *prhs[], int *found)
{
    const char *class_name = nrhs > 0 ? mxGetClassName(prhs[0]) : "";
    const char *wrong = NULL;
    char full[96];
    *found = 0;
    if (strncmp(class_name, "mpi.", 4) == 0 && strlen(class_name) + strlen(name) < sizeof full) {
        strcpy(full, class_name + 4);
        strcat(strcat(full, "."), name);
        wrong = call_by_name(full, nlhs, plhs, nrhs, prhs, found);
    }
    if (*found)
        return wrong;
    snprintf(full, sizeof full, "mpi.%s", name);
    return call_by_name(full, nlhs, plhs, nrhs, prhs, found);
}

/* postrider_call(name, ...), for what has no link of its own. */
static const char *call_named(char *name, size_t room, int nlhs, mxArray *plhs[], int nrhs, const mxArray *prhs[], int *found)
{
    *found = 1;
    if (nrhs < 1 || !mxIsChar(prhs[0]) || mxGetString(prhs[0], name, room) != 0)
        return argument_problem("postrider_call(name, ...) is wanted");
    if (strcmp(name, "start") == 0)
        return matlabmpi_begin();
    if (strcmp(name, "finish") == 0)
        return matlabmpi_end();
    return call_by_name(name, nlhs, plhs, nrhs - 1, prhs + 1, found);
}

static const char *call_matlabmpi(const char *name, int nlhs, mxArray *plhs[], int nrhs, const mxArray *prhs[], int *found)
{
    const struct operation *operation = find_operation(matlabmpi_operations, name);
    *found = operation != NULL;
    if (!operation)
        return NULL;
    return nlhs > operation->outputs_max ? "too many outputs" : operation->run(nlhs, plhs, nrhs, prhs);
}

void mexFunction(int nlhs, mxArray *plhs[], int nrhs, const mxArray *prhs[])
{
    char named[96] = "";
    const char *name = mexFunctionName(), *wrong;
    int found = 0;
    if (strcmp(name, "postrider_call") == 0)
        wrong = call_named(named, sizeof named, nlhs, plhs, nrhs, prhs, &found);
    else if (strncmp(name, "MPI_", 4) == 0 || strncmp(name, "MatMPI_", 7) == 0)
        wrong = call_matlabmpi(name, nlhs, plhs, nrhs, prhs, &found);
    else
        wrong = call_method(name, nlhs, plhs, nrhs, prhs, &found);
    if (!found)
        wrong = "this is no function of Postrider";
#ifdef POSTRIDER_OCTAVE
    /* Octave puts the name of the function in front by itself. */
    if (wrong)
        mexErrMsgIdAndTxt(identifier_of(wrong), "%s", wrong);
#else
    if (wrong)
        mexErrMsgIdAndTxt(identifier_of(wrong), "%s: %s", name, wrong);
#endif
}
