/* inquiry.c: what MPI knows of windows and datatypes (sections 12.2.6 and 5.1.13). */
#include "call.h"
#include "problem.h"

#include <string.h>

/* value = w.getAttr('size'): also 'disp_unit', 'create_flavor', 'model'. */
static const char *window_attribute(int nlhs, mxArray *plhs[], int nrhs, const mxArray *prhs[])
{
    static const struct { const char *name; int key; } NAMES[] = {
        {"size", MPI_WIN_SIZE}, {"disp_unit", MPI_WIN_DISP_UNIT}, {"create_flavor", MPI_WIN_CREATE_FLAVOR}, {"model", MPI_WIN_MODEL},
    };
    char name[32] = "";
    void *win, *value = NULL;
    int flag = 0;
    size_t i;
    const char *wrong = nrhs < 2 ? argument_problem("w.getAttr(name) is wanted") : read_handle(prhs[0], "Win", &win);
    (void)nlhs;
    if (wrong)
        return wrong;
    mxGetString(prhs[1], name, sizeof name);
    for (i = 0; i < sizeof NAMES / sizeof NAMES[0] && strcmp(NAMES[i].name, name) != 0; i++)
        ;
    if (i == sizeof NAMES / sizeof NAMES[0])
        return argument_problem("'%s' is no attribute of a window; there are 'size', 'disp_unit', 'create_flavor' and 'model'", name);
    wrong = mpi_problem(MPI_Win_get_attr(win, NAMES[i].key, &value, &flag), "Win.getAttr");
    if (wrong)
        return wrong;
    plhs[0] = !flag ? mxCreateDoubleMatrix(0, 0, mxREAL)
                    : mxCreateDoubleScalar(i == 0 ? (double)*(MPI_Aint *)value : (double)*(int *)value);
    return NULL;
}

static const struct { int combiner; const char *name; } COMBINERS[] = {
    {MPI_COMBINER_NAMED, "named"}, {MPI_COMBINER_DUP, "dup"}, {MPI_COMBINER_CONTIGUOUS, "contiguous"},
    {MPI_COMBINER_VECTOR, "vector"}, {MPI_COMBINER_HVECTOR, "hvector"}, {MPI_COMBINER_INDEXED, "indexed"},
    {MPI_COMBINER_HINDEXED, "hindexed"}, {MPI_COMBINER_INDEXED_BLOCK, "indexed_block"},
    {MPI_COMBINER_HINDEXED_BLOCK, "hindexed_block"}, {MPI_COMBINER_STRUCT, "struct"}, {MPI_COMBINER_SUBARRAY, "subarray"},
    {MPI_COMBINER_DARRAY, "darray"}, {MPI_COMBINER_RESIZED, "resized"}, {MPI_COMBINER_F90_REAL, "f90_real"},
    {MPI_COMBINER_F90_COMPLEX, "f90_complex"}, {MPI_COMBINER_F90_INTEGER, "f90_integer"},
    {MPI_COMBINER_VALUE_INDEX, "value_index"},
};

static const char *name_of(int combiner)
{
    size_t i;
    for (i = 0; i < sizeof COMBINERS / sizeof COMBINERS[0]; i++)
        if (COMBINERS[i].combiner == combiner)
            return COMBINERS[i].name;
    return "other";
}

/* What a datatype was made of. */
struct contents {
    MPI_Count integers, addresses, counts, types;
    int *integer;
    MPI_Aint *address;
    MPI_Count *count;
    MPI_Datatype *type;
    int combiner;
};

static const char *read_contents(MPI_Datatype type, struct contents *of)
{
    const char *wrong = mpi_problem(MPI_Type_get_envelope_c(type, &of->integers, &of->addresses, &of->counts, &of->types, &of->combiner),
                                    "Datatype.getContents");
    if (wrong)
        return wrong;
    of->integer = mxCalloc((size_t)of->integers + 1, sizeof *of->integer);
    of->address = mxCalloc((size_t)of->addresses + 1, sizeof *of->address);
    of->count = mxCalloc((size_t)of->counts + 1, sizeof *of->count);
    of->type = mxCalloc((size_t)of->types + 1, sizeof *of->type);
    if (of->combiner == MPI_COMBINER_NAMED)
        return NULL;
    return mpi_problem(MPI_Type_get_contents_c(type, of->integers, of->addresses, of->counts, of->types, of->integer, of->address,
                                               of->count, of->type), "Datatype.getContents");
}

static mxArray *types_of(const struct contents *of)
{
    mxArray *cell = mxCreateCellMatrix(1, (mwSize)of->types);
    MPI_Count i;
    for (i = 0; i < of->types; i++)
        mxSetCell(cell, (mwSize)i, handle_object("mpi.Datatype", of->type[i], MPI_DATATYPE_NULL));
    return cell;
}

/* [combiner, types, integers, addresses, counts] = t.getContents() */
static const char *type_contents(int nlhs, mxArray *plhs[], int nrhs, const mxArray *prhs[])
{
    struct contents of;
    MPI_Datatype type;
    mxArray *lists[3];
    MPI_Count i;
    const char *wrong = nrhs < 1 ? argument_problem("a datatype is wanted") : read_type(prhs[0], &type);
    if (!wrong)
        wrong = read_contents(type, &of);
    if (wrong)
        return wrong;
    lists[0] = mxCreateDoubleMatrix(1, (mwSize)of.integers, mxREAL);
    lists[1] = mxCreateDoubleMatrix(1, (mwSize)of.addresses, mxREAL);
    lists[2] = mxCreateDoubleMatrix(1, (mwSize)of.counts, mxREAL);
    for (i = 0; i < of.integers; i++)
        mxGetDoubles(lists[0])[i] = of.integer[i];
    for (i = 0; i < of.addresses; i++)
        mxGetDoubles(lists[1])[i] = (double)of.address[i];
    for (i = 0; i < of.counts; i++)
        mxGetDoubles(lists[2])[i] = (double)of.count[i];
    plhs[0] = mxCreateString(name_of(of.combiner));
    if (nlhs > 1)
        plhs[1] = types_of(&of);
    for (i = 0; i < 3 && nlhs > 2 + i; i++)
        plhs[2 + i] = lists[i];
    return NULL;
}

const struct operation inquiry_operations[] = {
    {"Win.getAttr", window_attribute, 1},
    {"Datatype.getContents", type_contents, 5},
    {NULL, NULL, 0},
};
