function p = pitfalls(dim)
% PITFALLS describes all parts of one dimension, as pMatlab's structure does.
%
%   p = postrider.maps.pitfalls(dim)
%
% p.l, p.r     first and last index of the first block of the first position
% p.s          distance between blocks of one position
% p.n          number of blocks of a position, the last may be missing or shorter
% p.d          distance between blocks of neighbouring positions
% p.p          number of positions
% p.rem_cycle  number of indices in the last round if that is not complete, or 0
%
% From: Ramaswamy and Banerjee, 1995 (processor indexed tagged family of line segments).
if ~isempty(dim.stored)
  error('pMatlab:pitfalls', ['a part of a distributed array that was chosen by a list of indices has no ' ...
    'pitfalls structure: assign it to an array with a map first']);
end
cycle = dim.block * dim.parts + dim.overlap;
p = struct('l', 1, 'r', dim.block + dim.overlap, 's', dim.block * dim.parts, ...
  'n', ceil(dim.length / cycle), 'd', dim.block, 'p', dim.parts, 'rem_cycle', mod(dim.length, cycle));
