function varargout = global_ind(d, dims)
% GLOBAL_IND: the indices that this rank has; see help global_ind.
if nargin < 2
  dims = 1:numel(d.sizes);
end
p = d.place;
varargout = cell(1, numel(dims));
for k = 1:numel(dims)
  if isempty(p)
    varargout{k} = [];
  else
    varargout{k} = postrider.maps.indices(d.layout.dims(dims(k)), p(dims(k)));
  end
end
