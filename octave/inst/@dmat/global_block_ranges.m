function varargout = global_block_ranges(d, dims)
% GLOBAL_BLOCK_RANGES: first and last index that each rank has; see help global_block_ranges.
if nargin < 2
  dims = 1:numel(d.sizes);
end
varargout = cell(1, numel(dims));
for k = 1:numel(dims)
  varargout{k} = by_ranks(d, dims(k), @bounds);
end

% Without an index the bounds are such that last - first + 1 is 0, and firsts keep ascending.
function r = bounds(dim, p)
r = postrider.maps.ranges(dim, p);
if isempty(r)
  r = [dim.length + 1, dim.length];
else
  r = [r(1), r(end)];
end
