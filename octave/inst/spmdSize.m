function workers = spmdSize()
% SPMDSIZE  The number of workers, that is of processes of the job.
%
%   workers = spmdSize
%
% A process that no launcher has started is the one worker of its job. numlabs is the older name.
%
% Example:
%   mine = spmdIndex:spmdSize:n;            % the numbers of 1:n that are this worker's
%
% See also: spmdIndex.
  c = mpi.world();
  workers = c.size;
end

%!assert(spmdSize, 1)
