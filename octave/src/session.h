/* session.h: jobs that a session starts by MPI_Run, and in which it is rank 0.
 *
 * A session, an Octave or MATLAB that no launcher has started, starts `postrider run` for the other
 * ranks.  The first of these opens a port and writes its name into a file; the session connects to
 * it, and the inter-communicator is merged, the session first.  That is MPI_COMM_WORLD of
 * MatlabMPI, for the session and for the ranks.  MPI itself is finalized when the process ends:
 * one session runs many jobs, one after another.
 *
 * Nobody waits for who is not there any more.  Who ends says so to the others by a notice
 * (queue.h).  Ranks that die take their job with them, which the session sees at its launcher.
 * A session that dies takes the launcher with it (PR_SET_PDEATHSIG); one that ends in order waits
 * until its ranks have ended.
 */
#ifndef POSTRIDER_SESSION_H
#define POSTRIDER_SESSION_H

#include "queue.h"

/* Starts a launcher: the words of its command, and the file that gets what it says.  A job that is
   `bound` ends with this process.  Its standard input is open until the job ends. */
const char *session_launch(char *const words[], const char *log, int bound, int *launcher);
/* Whether the launcher has ended, and its exit code, or 128 and the signal. */
const char *session_state(int launcher, int *over, int *code);
/* Meets the ranks of a job.  `first` is the rank in the communicator of the launcher's rank 0;
   `outputs` begins the names of the files with the ranks' output. */
const char *session_meet(int launcher, const char *port, int first, const char *outputs,
                         MPI_Comm *comm);
/* The other side: all ranks of the job call it, but the first `without`, which do not use MPI.  */
const char *session_join(const char *port_file, int without, MPI_Comm *comm);
/* Ends the job of a launcher, and waits for its end. */
const char *session_stop(int launcher);
/* Whether this process has started a job. */
int session_has_started(void);
/* The launcher of a job that runs: the next one after this, the first after 0; 0 after the last. */
int session_next(int launcher);
/* This process has done its part in its jobs. */
void session_let_go(void);
/* Waits until all jobs have ended; those in which its part was broken off are ended after some seconds. */
void session_wait(void);

#endif
