function labBarrier()
% LABBARRIER  Waits until all workers have called it.
%
%   labBarrier
%
% The older name of spmdBarrier, with the same arguments: see help spmdBarrier.
%
% Example: labBarrier;
%
% See also: spmdBarrier.
  spmdBarrier();
end

%!test labBarrier();
