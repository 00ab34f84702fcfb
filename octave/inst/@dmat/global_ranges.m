function varargout = global_ranges(d, dims)
% GLOBAL_RANGES: first and last index of each run that each rank has; see help global_ranges.
if nargin < 2
  dims = 1:numel(d.sizes);
end
varargout = cell(1, numel(dims));
for k = 1:numel(dims)
  varargout{k} = by_ranks(d, dims(k), @(dim, p) reshape(postrider.maps.ranges(dim, p)', 1, []));
end
