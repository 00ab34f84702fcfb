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
%! class_of_mine = mpi.addErrorClass();
%! code = mpi.addErrorCode(class_of_mine);
%! mpi.addErrorString(code, 'the matrix is singular');
%! assert(mpi.errorClass(code), class_of_mine);
%! assert(mpi.errorString(code), 'the matrix is singular');
%! mpi.removeErrorString(code);
%! mpi.removeErrorCode(code);
%! mpi.removeErrorClass(class_of_mine);
