function chosen = selection(dim, list)
% SELECTION describes the indices list of a dimension as a dimension of its own.
%
%   chosen = postrider.maps.selection(dim, list)
%
% Index k of chosen is index list(k) of dim, and stays where that is: no element moves. The
% description has lists for each position, since they follow no rule.
%
% Example: with blocks of 5 among 2 positions, list 4:7 leaves two indices with each.
chosen = dim;
chosen.length = numel(list);
chosen.stored = cell(1, dim.parts);
chosen.owned = cell(1, dim.parts);
for p = 1:dim.parts
  chosen.stored{p} = postrider.maps.locate(dim, p, list, false);
  chosen.owned{p} = postrider.maps.locate(dim, p, list, true);
end
