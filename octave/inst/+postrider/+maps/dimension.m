function dim = dimension(len, parts, dist, overlap)
% DIMENSION describes how one dimension is cut among the positions of a grid.
%
%   dim = postrider.maps.dimension(len, parts, dist)
%   dim = postrider.maps.dimension(len, parts, dist, overlap)
%
% len is the number of indices and parts the number of grid positions. dist is a struct with
% the field dist: 'b' (blocks of ceil(len / parts)), 'c' (one index after the other) or 'bc'
% (blocks of dist.b_size, dealt out in turn). overlap is the number of indices of the following
% positions of which a position stores copies, for blocks only (default 0).
%
% All three are blocks that are dealt out in turn, so that one description serves:
%   length, parts, block, overlap   as above
%   stored, owned                   {}, or for each position the list of its indices in local
%                                   order, which postrider.maps.selection makes
% The functions of this package are pure: they know no MPI and keep nothing. Positions and
% indices count from 1. The terms are those of Ramaswamy and Banerjee, "Automatic Generation of
% Efficient Array Redistribution Routines" (1995), and of pMatlab.
%
% Example: postrider.maps.dimension(10, 4, struct('dist', 'b')) has blocks of 3, 3, 3 and 1.
if nargin < 4
  overlap = 0;
end
switch dist.dist
  case 'b'
    block = ceil(len / parts);
  case 'c'
    block = 1;
  case 'bc'
    block = dist.b_size;
  otherwise
    error('pMatlab:map', 'distribution %s is none of b, c and bc', dist.dist);
end
dim = struct('length', len, 'parts', parts, 'block', max(block, 1), 'overlap', overlap, ...
  'stored', {{}}, 'owned', {{}});
