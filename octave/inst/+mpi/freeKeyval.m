% FREEKEYVAL  Gives a key of mpi.createKeyval back; attributes that are set stay until their communicator is freed.
%
%   mpi.freeKeyval(key)
%
% Example: key = mpi.createKeyval(); mpi.freeKeyval(key);
%
% Section 7.7.2 of the MPI standard, MPI_Comm_free_keyval.
%
% See also: mpi.createKeyval.
%
% The function is in the MEX file of this name; this file holds its help.

%!test
%! mpi.world();
%! mpi.freeKeyval(mpi.createKeyval());
