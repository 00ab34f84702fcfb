% ANY_TAG  Stands for every tag in a receive or a probe; [] and '*' do the same.
%
% Example: x = c.recv(0, mpi.ANY_TAG);
%
% Section 3.2.4 of the MPI standard, MPI_ANY_TAG.
%
% The function is in the MEX file of this name; this file holds its help.

%!assert(mpi.ANY_TAG < 0)
