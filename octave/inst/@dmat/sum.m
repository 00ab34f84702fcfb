function r = sum(d, dim)
% SUM: sum along a dimension of a distributed array.
%
%   R = sum(D)
%   R = sum(D, DIM)
%
% DIM is the first dimension whose length is not 1 by default. R is distributed over the map of
% D; where the dimension is cut, the sums are completed among the ranks. agg(R) is the plain
% result.
if nargin < 2
  dim = first_dimension(d);
end
d = checked(d);
if dim > numel(d.sizes)
  r = d;
  return
end
sizes = d.sizes;
sizes(dim) = 1;
regular = dmat(sizes, d.map);
layout = d.layout;
layout.dims(dim) = regular.layout.dims(dim);
layout.key = postrider.maps.key(layout);
r = dmat(sizes, d.map, layout);
p = d.place;
partial = [];
if ~isempty(p)
  at = repmat({':'}, 1, numel(p));
  [~, at{dim}] = postrider.maps.locate(d.layout.dims(dim), p(dim), ...
    postrider.maps.indices(d.layout.dims(dim), p(dim), true), true);
  partial = sum(d.part(at{:}), dim);
end
r.part = postrider.add_up(partial, layout, dim);
