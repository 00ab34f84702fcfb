function [done, values, statuses] = testall(varargin)
% TESTALL  Whether all requests are complete, and what they received then.
%
%   [done, values, statuses] = mpi.testall(r, ...)
%
% Example: [done, values] = mpi.testall(r, s);
%
% Section 3.7.5 of the MPI standard, MPI_Testall.
  [done, values, statuses] = postrider_call('testall', varargin{:});
end

%!test
%! c = mpi.world;
%! r = c.irecv(0, 3);
%! assert(mpi.testall(r), false);
%! c.send('x', 0, 3);
%! done = false;
%! while ~done
%!   [done, values] = mpi.testall(r);
%! end
%! assert(values, {'x'});
