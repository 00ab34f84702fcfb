function [position, at] = owner(dim, list)
% OWNER tells which position owns indices of one dimension.
%
%   [position, at] = postrider.maps.owner(dim, list)
%
% position and at, of the size of list, are the owner of each index and the index in its local
% part. Each index has one owner: copies do not count.
%
% Example: 10 indices in blocks of 3: postrider.maps.owner(dim, 8) is 3, and at is 2.
if isempty(dim.stored)
  number = floor((list - 1) / dim.block);
  position = mod(number, dim.parts) + 1;
  at = floor(number / dim.parts) * dim.block + mod(list - 1, dim.block) + 1;
  return
end
position = zeros(size(list));
at = zeros(size(list));
for p = 1:dim.parts
  [which, local] = postrider.maps.locate(dim, p, list, true);
  position(which) = p;
  at(which) = local;
end
