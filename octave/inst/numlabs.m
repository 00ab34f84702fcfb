function workers = numlabs()
% NUMLABS  The number of workers, that is of processes of the job.
%
%   workers = numlabs
%
% The older name of spmdSize, with the same arguments: see help spmdSize.
%
% Example: fprintf('worker %d of %d\n', labindex, numlabs);
%
% See also: spmdSize.
  workers = spmdSize();
end

%!assert(numlabs, 1)
