function l = layout(sizes, grid, dist, overlap)
% LAYOUT describes how an array is cut among ranks.
%
%   l = postrider.maps.layout(sizes, grid, dist, overlap)
%
% sizes are those of the array; grid is an array of ranks, each at most once, with at most as
% many dimensions; dist is a struct array with a distribution for each dimension
% (postrider.maps.dimension), and overlap a number for each dimension, or [].
%
%   l.grid    the ranks, l.shape their number in each dimension
%   l.dims    a struct array with the description of each dimension
%   l.key     postrider.maps.key
count = numel(sizes);
shape = size(grid);
shape(end + 1:count) = 1;
shape = shape(1:count);
if isempty(overlap)
  overlap = zeros(1, count);
end
for d = count:-1:1
  dims(d) = postrider.maps.dimension(sizes(d), shape(d), dist(d), overlap(d));
end
l = struct('grid', grid, 'shape', shape, 'dims', dims, 'key', '');
l.key = postrider.maps.key(l);
