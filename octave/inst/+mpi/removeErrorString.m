% REMOVEERRORSTRING  Removes the text of a code or class.
%
%   mpi.removeErrorString(code)
%
% Texts go first, then codes, then classes.
%
% Example: mpi.removeErrorString(code);
%
% Section 9.5 of the MPI standard, MPI_Remove_error_string.
%
% See also: mpi.addErrorString.
%
% The function is in the MEX file of this name; this file holds its help.

%!test
%! mpi.world();
%! made = mpi.addErrorClass();
%! mpi.addErrorString(made, 'the matrix is singular');
%! mpi.removeErrorString(made);
%! assert(isempty(strfind(mpi.errorString(made), 'singular')));
%! mpi.removeErrorClass(made);
