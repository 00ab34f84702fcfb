% ANY_SOURCE  Stands for every source in a receive or a probe; [] and '*' do the same.
%
% Example: x = c.recv(mpi.ANY_SOURCE, 7);
%
% Section 3.2.4 of the MPI standard, MPI_ANY_SOURCE.
%
% The function is in the MEX file of this name; this file holds its help.

%!assert(mpi.ANY_SOURCE < 0)
