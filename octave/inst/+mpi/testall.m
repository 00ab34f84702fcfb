function [done, values, statuses] = testall(varargin)
% TESTALL  Whether all requests are complete, and what they received then.
%
%   [done, values, statuses] = mpi.testall(r, ...)
%
% Section 3.7.5 of the MPI standard, MPI_Testall.
  [done, values, statuses] = postrider_call('testall', varargin{:});
end
