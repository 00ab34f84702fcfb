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
%! class_of_mine = mpi.addErrorClass();
%! code = mpi.addErrorCode(class_of_mine);
%! mpi.addErrorString(code, 'the matrix is singular');
%! assert(mpi.errorClass(code), class_of_mine);
%! assert(mpi.errorString(code), 'the matrix is singular');
%! mpi.removeErrorString(code);
%! mpi.removeErrorCode(code);
%! mpi.removeErrorClass(class_of_mine);
