function allowed = allowFunctions(allow)
% ALLOWFUNCTIONS  Whether anonymous functions can be received from other processes.
%
%   mpi.allowFunctions(true)
%   allowed = mpi.allowFunctions()
%
% An anonymous function is code. It travels as its text, with the variables that it has captured, and the process that receives it
% evaluates the text to make the handle. So a process receives one only after it has called this with true; until then the receive is an
% error that shows the text. Handles of named functions, containers.Map and objects of old classes are received always: they
% use what the receiver has on its path. Workers of an mpi.pool allow functions to the session that has started them.
%
% Example:
%   mpi.allowFunctions(true);
%   f = c.bcast(@(x) x ^ 2, 0);
%
% See also: mpi.pool, mpi.Comm.
  persistent kept
  if isempty(kept)
    kept = false;
  end
  if nargin > 0
    kept = logical(allow);
  end
  allowed = kept;
end

%!test
%! c = mpi.world;
%! before = mpi.allowFunctions(true);
%! unwind_protect
%!   a = 3;
%!   c.send(@(x) x ^ a, 0);
%!   f = c.recv(0);
%!   assert(f(2), 8);
%! unwind_protect_cleanup
%!   mpi.allowFunctions(false);
%! end_unwind_protect
%! assert(mpi.allowFunctions(), false);
