% THREAD_FUNNELED  Level of threads: only the thread that has started MPI calls it.
%
% Example: yes = mpi.threadLevel() >= mpi.THREAD_FUNNELED;
%
% Section 11.2.1 of the MPI standard, MPI_THREAD_FUNNELED.
%
% The function is in the MEX file of this name; this file holds its help.

%!assert(mpi.THREAD_FUNNELED < mpi.THREAD_SERIALIZED)
