/* matlabmpi.h: MatlabMPI in the MEX file: messages in matlabmpi.c, how a process begins and ends in process.c.
 */
#ifndef POSTRIDER_MATLABMPI_H
#define POSTRIDER_MATLABMPI_H

#include "call.h"

extern const struct operation matlabmpi_operations[];

/* MPI_COMM_WORLD of MatlabMPI: MPI's, or what the last MPI_Run has made. */
extern MPI_Comm matlabmpi_world;
/* A session has called MPI_Finalize, and neither MPI_Init nor MPI_Run since. */
extern int matlabmpi_has_left;
/* A communicator is a struct.  Looking into it takes as long as a whole small message.  Programs have
   one communicator at a time, so that it is needed only once messages are saved. */
extern int matlabmpi_look_inside;

/* Each returns NULL, or the text of an error. */
const char *matlabmpi_begin(void);
const char *matlabmpi_end(void);
const char *matlabmpi_is_running(void);
/* Whether this process is one of a launcher's job, and no session. */
int has_launcher(void);

/* An integer of a real scalar of any class, or INT_MIN. */
int matlabmpi_integer(const mxArray *value);

/* MatMPI_session(name, ...), of which MPI_Init, MPI_Run, MPI_Finalize and MPI_Abort are made. */
const char *op_session(int nlhs, mxArray *plhs[], int nrhs, const mxArray *prhs[]);

#endif
