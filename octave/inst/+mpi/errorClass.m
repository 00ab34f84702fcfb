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
%! class_of_mine = mpi.addErrorClass();
%! code = mpi.addErrorCode(class_of_mine);
%! mpi.addErrorString(code, 'the matrix is singular');
%! assert(mpi.errorClass(code), class_of_mine);
%! assert(mpi.errorString(code), 'the matrix is singular');
%! mpi.removeErrorString(code);
%! mpi.removeErrorCode(code);
%! mpi.removeErrorClass(class_of_mine);
