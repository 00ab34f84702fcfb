function index = labindex()
% LABINDEX  The index of this worker, from 1 to numlabs.
%
%   index = labindex
%
% The older name of spmdIndex, with the same arguments: see help spmdIndex.
%
% Example: fprintf('worker %d of %d\n', labindex, numlabs);
%
% See also: spmdIndex.
  index = spmdIndex();
end

%!assert(labindex, 1)
