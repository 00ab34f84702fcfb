% REMOVEERRORCLASS  Removes a class that mpi.addErrorClass has made.
%
%   mpi.removeErrorClass(class)
%
% Texts go first, then codes, then classes.
%
% Example: mpi.removeErrorClass(class);
%
% Section 9.5 of the MPI standard, MPI_Remove_error_class.
%
% See also: mpi.addErrorClass.
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
