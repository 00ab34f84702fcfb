function m = gagg_all(m, src, op)
% GAGG_ALL is gagg with the result on all ranks.
%
%   S = gagg_all(M)
%   S = gagg_all(M, src)
%   S = gagg_all(M, src, op)
%
% Rank src (0 by default) collects and sends the result to all, so that all have the same bits.
% op is '+' (or 'sum'), 'min' or 'max'.
%
% Errors: pMatlab:operator.
%
% Example: largest = gagg_all(max(local(D)(:)), 0, 'max');
%
% See also: gagg, agg_all. From: pMatlab 2.0.15.
world = postrider.pmatlab();
if nargin < 2
  src = world.leader;
end
if nargin < 3
  op = '+';
end
m = multicast(src, setdiff(0:world.comm_size - 1, src), gagg(m, src, op));

%!assert(gagg_all([1 2 3]), [1 2 3])
%!assert(gagg_all([1 2 3], 0, 'min'), [1 2 3])
