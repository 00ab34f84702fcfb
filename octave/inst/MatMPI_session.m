% MATMPI_SESSION  What MPI_Init, MPI_Run, MPI_Finalize and MPI_Abort are made of; programs call those.
%
%   facts = MatMPI_session('begin')                 starts MPI: rank, size, handle of the communicator, whether a launcher started this
%   state = MatMPI_session('running')               whether MPI runs, and whether a launcher has started this process
%   handle = MatMPI_session('alone')                a job of one rank
%   pid = MatMPI_session('launch', words, log, bound)   starts a launcher, which ends with this process if bound is 1
%   state = MatMPI_session('state', pid)            whether it has ended, and its exit code
%   handle = MatMPI_session('meet', pid, port, first, outputs)   the communicator with its ranks
%   handle = MatMPI_session('join', file, without)  the same in these ranks
%   pids = MatMPI_session('live')                   the launchers that run
%   MatMPI_session('stop', pid)                     ends one, with its ranks
%   MatMPI_session('look')                          from now on the fields of communicators are looked at
%   MatMPI_session('finish')                        ends the use of the communicator
%   MatMPI_session('abort', code)                   ends the job that this process is a rank of
%
% The function is in the MEX file of this name; this file holds its help.

%!test
%! facts = MatMPI_session('begin');
%! assert(facts(1:2), [0 1]);
%! state = MatMPI_session('running');
%! assert(logical(state(1)));
%! assert(isempty(MatMPI_session('live')));

%!error MatMPI_session('no such word')
