function r = remap(d, new_map)
% REMAP: the same array with another map; see help remap.
if ~isa(new_map, 'map')
  r = agg_all(d);
  return
end
if numel(d.sizes) < new_map.dim
  d = fitted(d, [d.sizes, ones(1, new_map.dim - numel(d.sizes))]);
end
r = laid_out(d, dmat(d.sizes, new_map));
