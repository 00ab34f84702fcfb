/* mex_shared.h: what the two directions of mex_values.h share. */
#ifndef POSTRIDER_MEX_SHARED_H
#define POSTRIDER_MEX_SHARED_H

#include "mex_values.h"

/* Remembers the text of an error until the next one. */
const char *value_problem(const char *format, ...);

/* The type in the encoding, or 0. */
int value_type_of(const mxArray *value);
mxClassID value_class_of(int type);

#ifdef POSTRIDER_OCTAVE
/* The result of a function of Octave's own, also when the user's path has another of
   that name: merge.m and resize.m are not rare. */
enum { BUILTIN_ARGUMENTS_MAX = 3 };
mxArray *call_builtin(const char *name, int count, mxArray *const arguments[]);
#endif

/* A reference of our own to the same value; MATLAB makes a copy.  In Octave that is
   merge(true, value, value): mxDuplicateArray() would copy, and in Octave 7 write the
   copy of a complex array past its end. */
mxArray *same_value(const mxArray *value);

/* The same array with all of its elements in memory, which is shared with `value` if it has them there. */
mxArray *full_form(const mxArray *value);

#ifdef POSTRIDER_OCTAVE
/* complex(array, array), which is complex whatever its elements are; destroys `array`. */
mxArray *complex_of(mxArray *array);
#endif

/* A full array whose elements are open.  A large one is made so that it is not copied when the MEX function returns it. */
mxArray *dense_array(mxClassID class_id, int complex, mwSize dimensions, const mwSize *dims, int large);

/* From now on the process keeps up to a gigabyte of what it frees.  The C library would give an array back to the system, and each one
   that is received would be made of new pages, which takes longer than its message.  Who has set the C library's own variables has his way. */
void keep_freed_memory(void);

/* The extents as a row of doubles, for functions of the interpreter. */
mxArray *row_of_extents(mwSize dimensions, const mwSize *dims);

#endif
