function f = falls(dim, position)
% FALLS describes the part of one position in one dimension, as pMatlab's structure does.
%
%   f = postrider.maps.falls(dim, position)
%
% f.l, f.r            first and last index of the first block, as if it were complete
% f.s, f.n            distance and number of the blocks, a missing one at the end included
% f.local_len         number of indices here
% f.complete_cycle    whether the last block is here and complete
% f.complete_block    whether no block is shortened
%
% From: Ramaswamy and Banerjee, 1995 (family of line segments).
p = postrider.maps.pitfalls(dim);
r = postrider.maps.ranges(dim, position);
count = r(:, 2) - r(:, 1) + 1;
full_block = p.r - p.l + 1;
f = struct('l', p.l + (position - 1) * p.d, 'r', p.r + (position - 1) * p.d, 's', p.s, 'n', p.n, ...
  'local_len', sum(count), 'complete_cycle', sum(count) == p.n * full_block, ...
  'complete_block', mod(sum(count), full_block) == 0);
