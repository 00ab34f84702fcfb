% THREAD_MULTIPLE  Level of threads: any thread calls MPI at any time.
%
% Example: yes = mpi.threadLevel() == mpi.THREAD_MULTIPLE;
%
% Section 11.2.1 of the MPI standard, MPI_THREAD_MULTIPLE.
%
% The function is in the MEX file of this name; this file holds its help.

%!assert(mpi.THREAD_MULTIPLE > mpi.THREAD_SINGLE)
