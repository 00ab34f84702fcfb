% THREAD_SINGLE  Level of threads: there is one thread only.
%
% Example: alone = mpi.threadLevel() == mpi.THREAD_SINGLE;
%
% Section 11.2.1 of the MPI standard, MPI_THREAD_SINGLE.
%
% The function is in the MEX file of this name; this file holds its help.

%!assert(mpi.THREAD_SINGLE < mpi.THREAD_FUNNELED)
