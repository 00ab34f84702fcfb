function d = along(d, dim)
% ALONG makes sure that a dimension is not cut: if it is, the array is remapped so that only
% another dimension is, the other one of two, or the last one of more.
shape = d.layout.shape;
if dim > numel(shape) || shape(dim) == 1
  return
end
cut = numel(shape);
if dim == cut
  cut = 1;
end
parts = ones(size(shape));
parts(cut) = prod(shape);
dist = d.map.dist_spec;
dist(end + 1:numel(shape)) = dist(end);
d = remap(d, map(parts, dist, reshape(d.layout.grid, 1, [])));
