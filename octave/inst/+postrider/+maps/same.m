function yes = same(a, b)
% SAME tells whether two layouts put each element in the same place.
%
%   yes = postrider.maps.same(a, b)
if isempty(a.key) || isempty(b.key)
  yes = isequal(a, b);
else
  yes = strcmp(a.key, b.key);
end
