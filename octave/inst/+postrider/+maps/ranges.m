function r = ranges(dim, position, owned)
% RANGES lists what a position has of one dimension, as first and last indices.
%
%   r = postrider.maps.ranges(dim, position)
%   r = postrider.maps.ranges(dim, position, owned)
%
% dim comes from postrider.maps.dimension. r has a row [first last] for each unbroken run of
% indices, in local order, and no row if there are none. Copies of the following position's
% indices are included unless owned is true.
%
% Example: position 2 of 2, 10 indices in blocks of 2 dealt out in turn: [3 4; 7 8].
if nargin < 3
  owned = false;
end
if ~isempty(dim.stored)
  r = runs(postrider.maps.indices(dim, position, owned));
  return
end
if dim.parts == 1
  first = 1;
  last = dim.length;
elseif dim.overlap > 0
  first = (position - 1) * dim.block + 1;
  last = position * dim.block + dim.overlap * ~owned;
else
  first = (position - 1) * dim.block + 1 : dim.parts * dim.block : dim.length;
  last = first + dim.block - 1;
end
r = [first(:), min(last(:), dim.length)];
r = r(r(:, 1) <= r(:, 2), :);

function r = runs(list)
list = list(:);
if isempty(list)
  r = zeros(0, 2);
  return
end
breaks = find(diff(list) ~= 1);
r = [list([1; breaks + 1]), list([breaks; numel(list)])];
