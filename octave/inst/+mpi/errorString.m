% ERRORSTRING  The text of an error code or class.
%
%   text = mpi.errorString(code)
%
% Example: disp(mpi.errorString(6))
%
% Section 9.3.6 of the MPI standard, MPI_Error_string.
%
% See also: mpi.errorClass.
%
% The function is in the MEX file of this name; this file holds its help.

%!test
%! mpi.world();
%! assert(ischar(mpi.errorString(0)) && ~isempty(mpi.errorString(0)));
