/* mpitb.h: MPI-TB's names and conventions.
 *
 * The first result of a function is the code that MPI returns, 0 for success; handles are numbers, statuses structs.  What a function
 * changes in place is a variable of its caller.  Such a function is one of the language (octave/build makes it of its row in mpitb.def),
 * which does nothing but call mpitb_call() with its own name and arguments: so the names of the arguments can be asked for, and assigned to
 * by assignin('caller', ...).  Assignment, unlike writing into the memory of the variable, leaves other variables alone that share its elements.
 *
 * A nonblocking receive assigns a fresh array at once, keeps a reference to it, and receives into its memory.  So what arrives is in the variable
 * wherever that has gone: it may be returned by the function that began to receive, and be waited for elsewhere.
 */
#ifndef POSTRIDER_MPITB_H
#define POSTRIDER_MPITB_H

#include "call.h"

/* The src in the status of a cancelled operation. */
enum { CANCEL_SOURCE = -101 };

void mpitb_function(int nlhs, mxArray *plhs[], int nrhs, const mxArray *prhs[]);

/* ---- results ---- */

void give_code(mxArray *plhs[], int code);
/* A result, if it is asked for; `value` is destroyed otherwise. */
void give(int nlhs, mxArray *plhs[], int k, mxArray *value);
mxArray *number_of_handle(const void *handle);
/* A row of structs with the fields src, tag, err and len, in bytes. */
mxArray *status_structs(int count, const MPI_Status statuses[]);
/* An error that MPI does not find itself, by the error handler of the communicator. */
int raise_code(MPI_Comm comm, int code);

/* ---- variables of the caller; arguments count from 0 ---- */

/* The variable that an argument is, or an error that says what to write instead. */
const char *caller_variable(int argument, char name[64]);
/* 0 where an argument is no variable. */
int is_caller_variable(int argument, char name[64]);
/* Whether an argument is written as this text. */
int is_written(int argument, const char *text);
void assign_in_caller(const char *name, mxArray *value);
/* NULL where the caller has no such variable. */
mxArray *value_in_caller(const char *name);

/* An array that takes the place of a variable: of the class and size of `before`, with elements still to be written. */
struct target {
    char name[64];
    mxArray *array;
    const mxArray *before;
    void *address;
    MPI_Count count;
    MPI_Datatype type;
    size_t element_bytes;
};

const char *open_target(int argument, const mxArray *before, struct target *target);
/* All but the name, of a full array. */
void fill_target(const mxArray *before, struct target *target);
/* Elements from this one on stay as they were. */
void keep_rest(struct target *target, MPI_Count first);
/* Assigns the array to the variable. */
void close_target(struct target *target);
/* Assigns it before anything has arrived, and returns a reference whose memory is that of the variable. */
const char *share_target(struct target *target, mxArray **kept);
/* How many elements a message has. */
MPI_Count elements_received(const MPI_Status *status, MPI_Datatype type);

/* ---- functions of mpitb.def ---- */

#define PLAIN(name, usage, help, signature, expression)
#define ANYTIME(name, usage, help, function) operate function;
#define OWN ANYTIME
#define CALLER ANYTIME
#define CONSTANT(name, help, value)
#include "mpitb.def"
#undef PLAIN
#undef ANYTIME
#undef OWN
#undef CALLER
#undef CONSTANT

/* mpitb_requests.c: before MPI is finalized. */
void forget_requests(void);
/* mpitb_objects.c: whether a session's program has called MPI_Finalize, and none MPI_Init since. */
int is_between_programs(void);
/* The result of a function that frees its first argument, whose variable becomes `null`. */
const char *give_freed(mxArray *plhs[], int code, double null);
/* mpitb_callbacks.c: calls the program's error handlers for errors of the call that is over. */
void run_error_handlers(void);

#endif
