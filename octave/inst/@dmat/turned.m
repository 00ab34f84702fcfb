function t = turned(d, f)
% TURNED transposes a matrix: each rank fetches what its part of the result is made of.
if numel(d.sizes) ~= 2
  error('pMatlab:dimension', 'only an array of two dimensions can be transposed, this one has %d', numel(d.sizes));
end
t = dmat(fliplr(d.sizes), d.map);
before = t.layout;
before.grid = before.grid.';
before.shape = fliplr(before.shape);
before.dims = before.dims([2 1]);
before.key = postrider.maps.key(before);
d = checked(d);
world = postrider.pmatlab();
steps = postrider.cached_plan(d.layout, before, world.my_rank);
n = postrider.maps.local_size(before, postrider.maps.position(before, world.my_rank));
t.part = f(postrider.redistribute(steps, d.part, n));
