% THREAD_SERIALIZED  Level of threads: any thread calls MPI, one at a time.
%
% Example: yes = mpi.threadLevel() >= mpi.THREAD_SERIALIZED;
%
% Section 11.2.1 of the MPI standard, MPI_THREAD_SERIALIZED.
%
% The function is in the MEX file of this name; this file holds its help.

%!assert(mpi.THREAD_SERIALIZED < mpi.THREAD_MULTIPLE)
