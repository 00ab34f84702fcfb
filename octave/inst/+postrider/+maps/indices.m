function list = indices(dim, position, owned)
% INDICES lists the indices of one dimension that a position has, in local order.
%
%   list = postrider.maps.indices(dim, position)
%   list = postrider.maps.indices(dim, position, owned)
%
% list is a row. It includes the copies of the following position's indices unless owned is
% true.
%
% Example: position 1 of 2, 10 indices in blocks of 2 dealt out in turn: [1 2 5 6 9 10].
if nargin < 3
  owned = false;
end
if ~isempty(dim.stored)
  if owned
    list = dim.owned{position};
  else
    list = dim.stored{position};
  end
  return
end
r = postrider.maps.ranges(dim, position, owned);
if isempty(r)
  list = zeros(1, 0);
elseif size(r, 1) == 1
  list = r(1):r(2);
else
  list = bsxfun(@plus, r(:, 1)', (0:dim.block - 1)');
  list = reshape(list(list <= dim.length), 1, []);
end
