function dim = everywhere(len, parts)
% EVERYWHERE describes a dimension of which each position stores all indices.
%
%   dim = postrider.maps.everywhere(len, parts)
%
% It serves as the destination of a redistribution that copies.
dim = postrider.maps.dimension(len, parts, struct('dist', 'b'));
dim.stored = repmat({1:len}, 1, parts);
dim.owned = [{1:len}, repmat({zeros(1, 0)}, 1, parts - 1)];
