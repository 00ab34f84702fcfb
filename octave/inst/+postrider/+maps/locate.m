function [which, at] = locate(dim, position, list, owned)
% LOCATE finds indices of one dimension in the part of a position.
%
%   [which, at] = postrider.maps.locate(dim, position, list, owned)
%
% list(which) are those indices that the position has, and at are their local indices. Copies
% of the following position's indices count unless owned is true. list may be in any order.
%
% Example: position 2 of 2, blocks of 5: list [9 1 6] gives which = [1 3] and at = [4 1].
list = list(:)';
if ~isempty(dim.stored)
  [found, at] = ismember(list, dim.stored{position});
  if owned
    found = found & ismember(list, dim.owned{position});
  end
  which = find(found);
  at = at(which);
elseif dim.parts == 1
  which = 1:numel(list);
  at = list;
elseif dim.overlap > 0
  r = postrider.maps.ranges(dim, position, owned);
  if isempty(r)
    r = [1 0];
  end
  which = find(list >= r(1) & list <= r(2));
  at = list(which) - r(1) + 1;
else
  [owners, at] = postrider.maps.owner(dim, list);
  which = find(owners == position);
  at = at(which);
end
