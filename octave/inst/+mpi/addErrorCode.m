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
%! made = mpi.addErrorClass();
%! code = mpi.addErrorCode(made);
%! assert(code ~= made && mpi.errorClass(code) == made);
%! mpi.removeErrorCode(code);
%! mpi.removeErrorClass(made);
