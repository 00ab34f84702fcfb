% ADDERRORCLASS  A new class of errors, for a library over MPI.
%
%   class = mpi.addErrorClass()
%
% Example: own = mpi.addErrorClass(); code = mpi.addErrorCode(own); mpi.addErrorString(code, 'it is singular');
%
% Section 9.5 of the MPI standard, MPI_Add_error_class.
%
% See also: mpi.addErrorCode, mpi.removeErrorClass.
%
% The function is in the MEX file of this name; this file holds its help.

%!test
%! mpi.world();
%! made = mpi.addErrorClass();
%! assert(mpi.errorClass(made), made);
%! mpi.removeErrorClass(made);
