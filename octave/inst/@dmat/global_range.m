function varargout = global_range(d, dims)
% GLOBAL_RANGE: first and last index of each run that this rank has; see help global_range.
if nargin < 2
  dims = 1:numel(d.sizes);
end
p = d.place;
varargout = cell(1, numel(dims));
for k = 1:numel(dims)
  varargout{k} = [];
  if ~isempty(p)
    varargout{k} = reshape(postrider.maps.ranges(d.layout.dims(dims(k)), p(dims(k)))', 1, []);
  end
end
