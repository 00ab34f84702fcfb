% ADDERRORSTRING  Gives an error code or class of the program a text.
%
%   mpi.addErrorString(code, text)
%
% Example: mpi.addErrorString(code, 'it is singular');
%
% Section 9.5 of the MPI standard, MPI_Add_error_string.
%
% See also: mpi.errorString.
%
% The function is in the MEX file of this name; this file holds its help.

%!test
%! mpi.world();
%! made = mpi.addErrorClass();
%! mpi.addErrorString(made, 'the matrix is singular');
%! assert(mpi.errorString(made), 'the matrix is singular');
%! mpi.removeErrorString(made);
%! mpi.removeErrorClass(made);
