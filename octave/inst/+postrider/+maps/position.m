function p = position(l, rank)
% POSITION tells where a rank is in the grid of a layout.
%
%   p = postrider.maps.position(l, rank)
%
% p is a row with the position in each dimension, or [] if the rank is not in the grid.
cell_number = find(l.grid == rank, 1);
if isempty(cell_number)
  p = [];
else
  p = postrider.maps.subscripts(l.shape, cell_number);
end
