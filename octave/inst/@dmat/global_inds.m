function varargout = global_inds(d, dims)
% GLOBAL_INDS: the indices that each rank has; see help global_inds.
if nargin < 2
  dims = 1:numel(d.sizes);
end
varargout = cell(1, numel(dims));
for k = 1:numel(dims)
  varargout{k} = by_ranks(d, dims(k), @(dim, p) postrider.maps.indices(dim, p));
end
