function text = key(l)
% KEY is a text that two layouts have in common if and only if they are the same.
%
%   text = postrider.maps.key(l)
%
% Layouts with lists of indices (postrider.maps.selection) have the key ''.
text = '';
if isempty([l.dims.stored])
  text = sprintf('%d ', l.shape, -1, l.grid, -1, l.dims.length, -1, l.dims.block, -1, l.dims.overlap);
end
