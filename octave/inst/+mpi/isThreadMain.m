% ISTHREADMAIN  Whether this thread is the one that has started MPI.
%
%   yes = mpi.isThreadMain()
%
% Example: assert(mpi.isThreadMain())
%
% Section 11.2.1 of the MPI standard, MPI_Is_thread_main.
%
% See also: mpi.threadLevel.
%
% The function is in the MEX file of this name; this file holds its help.

%!assert(mpi.isThreadMain())
