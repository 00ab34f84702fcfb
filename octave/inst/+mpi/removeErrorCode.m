% REMOVEERRORCODE  Removes a code that mpi.addErrorCode has made.
%
%   mpi.removeErrorCode(code)
%
% Texts go first, then codes, then classes.
%
% Example: mpi.removeErrorCode(code);
%
% Section 9.5 of the MPI standard, MPI_Remove_error_code.
%
% See also: mpi.addErrorCode.
%
% The function is in the MEX file of this name; this file holds its help.

%!test
%! mpi.world();
%! made = mpi.addErrorClass();
%! code = mpi.addErrorCode(made);
%! mpi.removeErrorCode(code);
%! fails = false;
%! try, mpi.removeErrorCode(code); catch, fails = true; end
%! assert(fails);
%! mpi.removeErrorClass(made);
