% POSTRIDER_CALL  Calls a function of Postrider by its full name.
%
%   ... = postrider_call(name, ...)
%
% This is the MEX file behind all functions; programs use mpi.*, MPI_* and the others.  Names are those of the rows in
% src/functions.def and of the tables beside it, such as 'Comm.Send' or 'raw.vector'.
