% ERRORCLASS  The class of an error code.
%
%   class = mpi.errorClass(code)
%
% Example: assert(mpi.errorClass(code) == own)
%
% Section 9.4 of the MPI standard, MPI_Error_class.
%
% See also: mpi.errorString.
%
% The function is in the MEX file of this name; this file holds its help.

%!test
%! mpi.world();
%! assert(mpi.errorClass(0), 0);
