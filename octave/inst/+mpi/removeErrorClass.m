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
%! made = mpi.addErrorClass();
%! mpi.removeErrorClass(made);
%! fails = false;
%! try, mpi.removeErrorClass(made); catch, fails = true; end
%! assert(fails);
