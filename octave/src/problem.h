/* problem.h: what goes wrong, as the text and the identifier of an error of the language.
 *
 * Functions return NULL, or such a text, which is valid until the next one.  The identifier belongs to the text that
 * was made last: mpi:truncate, mpi:rank and so on by the error class of MPI, mpi:argument for what the program
 * passed, mpi:state for a call at the wrong time.
 */
#ifndef POSTRIDER_PROBLEM_H
#define POSTRIDER_PROBLEM_H

/* NULL for MPI_SUCCESS. */
const char *mpi_problem(int code, const char *call);

const char *argument_problem(const char *format, ...);
const char *rank_problem(int rank, int size);
const char *state_problem(const char *text);
const char *interrupt_problem(void);

/* The identifier of `text`, or the general one if that is of another source. */
const char *identifier_of(const char *text);

#endif
