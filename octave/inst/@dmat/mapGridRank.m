function index = mapGridRank(d)
% MAPGRIDRANK: where each rank is in the grid of a distributed array.
%
%   index = mapGridRank(D)
%
% Row r + 1 has the position of rank r in each dimension, or zeros if rank r has no part.
%
% From: pMatlab 2.0.15.
world = postrider.pmatlab();
index = zeros(world.comm_size, numel(d.sizes));
for number = 1:numel(d.layout.grid)
  index(d.layout.grid(number) + 1, :) = postrider.maps.subscripts(d.layout.shape, number);
end
