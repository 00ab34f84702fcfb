function r = transpose_grid(d)
% TRANSPOSE_GRID: the same array with the grid transposed; see help transpose_grid.
m = d.map;
if numel(d.sizes) ~= 2 || m.dim ~= 2
  error('pMatlab:dimension', 'transpose_grid is for arrays of two dimensions, this one has %d', numel(d.sizes));
end
overlap = {m.overlap};
r = remap(d, map(fliplr(size(m.grid)), m.dist_spec, m.proc_list, overlap{~isempty(m.overlap)}));
