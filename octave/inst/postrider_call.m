% POSTRIDER_CALL  Calls a function of Postrider by its full name.
%
%   ... = postrider_call(name, ...)
%
% This is the MEX file behind all functions; programs use mpi.*, MPI_* and the others.  Names are those of the rows in
% src/functions.def and of the tables beside it, such as 'Comm.Send' or 'raw.vector'.

%!test
%! c = mpi.world;
%! assert(postrider_call('Comm.allreduce', c, 3, '+'), 3);

%!error <no function of Postrider> postrider_call('no_such_function')
