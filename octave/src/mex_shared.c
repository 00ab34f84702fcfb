/* mex_shared.c: see mex_shared.h. */
#include "mex_shared.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#ifdef __GLIBC__
#include <malloc.h>
#endif

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
    if (count)
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

#ifdef POSTRIDER_OCTAVE
/* Octave copies an array made by mxCreateNumericArray when the MEX function
   returns it, and in Octave 7 such an array has room for the real parts only when
   it is complex.  What one of its own functions made is returned as it is.  So
   large and complex arrays are made by functions of Octave, of a scalar of the right class. */

/* uninitialized.cc, or NULL where it is of another Octave. */
static mxArray *create_uninitialized(mxClassID class_id, mwSize dimensions, const mwSize *dims)
{
    static int missing;
    mxArray *arguments[2], *made = NULL, *error;
    if (missing)
        return NULL;
    arguments[0] = mxCreateNumericMatrix(1, 1, class_id, mxREAL);
    arguments[1] = row_of_extents(dimensions, dims);
    error = mexCallMATLABWithTrap(1, &made, 2, arguments, "postrider.uninitialized");
    mxDestroyArray(arguments[0]);
    mxDestroyArray(arguments[1]);
    missing = error != NULL;
    return missing ? NULL : made;
}

/* By resize(zero, dims); the complex zero is 1i, since Octave makes an array real when it holds real numbers only. */
static mxArray *create_by_resize(mxClassID class_id, int complex, mwSize dimensions, const mwSize *dims)
{
    mxArray *arguments[2], *made;
    if (complex) {
        arguments[0] = call_builtin("I", 0, NULL);
        if (class_id == mxSINGLE_CLASS) {
            mxArray *as_double = arguments[0];
            arguments[0] = call_builtin("single", 1, &as_double);
            mxDestroyArray(as_double);
        }
    } else {
        arguments[0] = mxCreateNumericMatrix(1, 1, class_id, mxREAL);
    }
    arguments[1] = row_of_extents(dimensions, dims);
    made = call_builtin("resize", 2, arguments);
    mxDestroyArray(arguments[0]);
    mxDestroyArray(arguments[1]);
    return made;
}

mxArray *complex_of(mxArray *array)
{
    mxArray *arguments[2], *made;
    arguments[0] = arguments[1] = array;
    made = call_builtin("complex", 2, arguments);
    mxDestroyArray(array);
    return made;
}
#endif

mxArray *dense_array(mxClassID class_id, int complex, mwSize dimensions, const mwSize *dims, int large)
{
    mwSize elements = 1, i;
    mxArray *made = NULL;
    if (class_id == mxLOGICAL_CLASS)
        return mxCreateLogicalArray(dimensions, dims);
    if (class_id == mxCHAR_CLASS)
        return mxCreateCharArray(dimensions, dims);
    for (i = 0; i < dimensions; i++)
        elements *= dims[i];
    (void)large, (void)elements, (void)made;
#ifdef POSTRIDER_OCTAVE
    if (elements && large && !complex && (class_id == mxDOUBLE_CLASS || class_id == mxSINGLE_CLASS))
        made = create_uninitialized(class_id, dimensions, dims);
    if (made)
        return made;
    if (elements && (large || complex))
        return create_by_resize(class_id, complex, dimensions, dims);
    if (complex)
        return complex_of(mxCreateNumericArray(dimensions, dims, class_id, mxREAL));
#endif
    return mxCreateUninitNumericArray(dimensions, (mwSize *)dims, class_id, complex ? mxCOMPLEX : mxREAL);
}

void keep_freed_memory(void)
{
#ifdef __GLIBC__
    if (!getenv("MALLOC_MMAP_THRESHOLD_") && !getenv("MALLOC_TRIM_THRESHOLD_") && !getenv("GLIBC_TUNABLES")) {
        mallopt(M_MMAP_THRESHOLD, 1 << 30);
        mallopt(M_TRIM_THRESHOLD, 1 << 30);
    }
#endif
}

mxArray *row_of_extents(mwSize dimensions, const mwSize *dims)
{
    mxArray *row = mxCreateDoubleMatrix(1, dimensions, mxREAL);
    double *extents = mxGetDoubles(row);
    mwSize i;
    for (i = 0; i < dimensions; i++)
        extents[i] = (double)dims[i];
    return row;
}
