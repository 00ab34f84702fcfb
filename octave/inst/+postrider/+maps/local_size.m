function n = local_size(l, position)
% LOCAL_SIZE gives the size of the part of a position, copies included.
%
%   n = postrider.maps.local_size(l, position)
%
% position is that of postrider.maps.position; without one the part is 0-by-0.
n = zeros(1, numel(l.dims));
for d = 1:numel(position)
  r = postrider.maps.ranges(l.dims(d), position(d));
  n(d) = sum(r(:, 2) - r(:, 1) + 1);
end
