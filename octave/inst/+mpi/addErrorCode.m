% ADDERRORCODE  A new error code of a class.
%
%   code = mpi.addErrorCode(class)
%
% c.callErrhandler(code) then makes an error of it.
%
% Example: code = mpi.addErrorCode(mpi.addErrorClass());
%
% Section 9.5 of the MPI standard, MPI_Add_error_code.
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
