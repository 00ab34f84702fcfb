/* mex_shared.c: see mex_shared.h. */
#include "mex_shared.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#if !MX_HAS_INTERLEAVED_COMPLEX
#error "Build with interleaved complex arrays: mex -R2018a, or octave/build."
#endif

static char problem_text[512];

const char *value_problem(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(problem_text, sizeof problem_text, format, arguments);
    va_end(arguments);
    return problem_text;
}

static const struct { mxClassID class_id; int type; } TYPES[] = {
    {mxDOUBLE_CLASS, VALUE_DOUBLE}, {mxLOGICAL_CLASS, VALUE_LOGICAL},
    {mxCHAR_CLASS, sizeof(mxChar) == 1 ? VALUE_CHAR8 : VALUE_CHAR16},
    {mxSINGLE_CLASS, VALUE_SINGLE}, {mxINT8_CLASS, VALUE_INT8},
    {mxUINT8_CLASS, VALUE_UINT8},   {mxINT16_CLASS, VALUE_INT16},
    {mxUINT16_CLASS, VALUE_UINT16}, {mxINT32_CLASS, VALUE_INT32},
    {mxUINT32_CLASS, VALUE_UINT32}, {mxINT64_CLASS, VALUE_INT64},
    {mxUINT64_CLASS, VALUE_UINT64}, {mxCELL_CLASS, VALUE_CELL},
    {mxSTRUCT_CLASS, VALUE_STRUCT},
};
enum { TYPE_COUNT = sizeof TYPES / sizeof TYPES[0] };

int value_type_of(const mxArray *value)
{
    mxClassID class_id = mxGetClassID(value);
    size_t i;
    for (i = 0; i < TYPE_COUNT; i++)
        if (TYPES[i].class_id == class_id)
            return TYPES[i].type;
    return 0;
}

mxClassID value_class_of(int type)
{
    size_t i;
    for (i = 0; i < TYPE_COUNT; i++)
        if (TYPES[i].type == type)
            return TYPES[i].class_id;
    return mxUNKNOWN_CLASS;
}

#ifdef POSTRIDER_OCTAVE
mxArray *call_builtin(const char *name, int count, mxArray *const arguments[])
{
    mxArray *all[1 + BUILTIN_ARGUMENTS_MAX], *made = NULL;
    all[0] = mxCreateString(name);
    memcpy(all + 1, arguments, (size_t)count * sizeof *arguments);
    mexCallMATLAB(1, &made, 1 + count, all, "builtin");
    mxDestroyArray(all[0]);
    return made;
}

mxArray *same_value(const mxArray *value)
{
    mxArray *arguments[3], *same;
    arguments[0] = mxCreateLogicalScalar(1);
    arguments[1] = arguments[2] = (mxArray *)value;
    same = call_builtin("merge", 3, arguments);
    mxDestroyArray(arguments[0]);
    return same;
}
#else
mxArray *same_value(const mxArray *value)
{
    return mxDuplicateArray(value);
}
#endif

mxArray *row_of_extents(mwSize dimensions, const mwSize *dims)
{
    mxArray *row = mxCreateDoubleMatrix(1, dimensions, mxREAL);
    double *extents = mxGetDoubles(row);
    mwSize i;
    for (i = 0; i < dimensions; i++)
        extents[i] = (double)dims[i];
    return row;
}
