% THREADLEVEL  From which threads MPI may be called.
%
%   level = mpi.threadLevel()
%
% It is mpi.THREAD_SINGLE, THREAD_FUNNELED, THREAD_SERIALIZED or THREAD_MULTIPLE; the language itself calls from one.
%
% Example: several = mpi.threadLevel() == mpi.THREAD_MULTIPLE;
%
% Section 11.2.1 of the MPI standard, MPI_Query_thread.
%
% See also: mpi.isThreadMain.
%
% The function is in the MEX file of this name; this file holds its help.

%!assert(any(mpi.threadLevel() == [mpi.THREAD_SINGLE, mpi.THREAD_FUNNELED, mpi.THREAD_SERIALIZED, mpi.THREAD_MULTIPLE]))
