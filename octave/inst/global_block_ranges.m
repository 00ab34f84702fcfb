function varargout = global_block_ranges(x, dims)
% GLOBAL_BLOCK_RANGES gives first and last index that each rank has.
%
%   r = global_block_ranges(D, dim)
%   [r1, r2, ...] = global_block_ranges(D)
%
% r is a matrix with a row [rank first last] for each part; a part without indices has last =
% first - 1; with one output for each dimension if dim is not given, or one for each of several
% dims. Copies of overlapping indices are included. The rows of tables follow the grid, its
% last dimension fastest. For a plain array it is [0 1 size(X, dim)].
%
% Example: columns = global_block_ranges(D, 2);
%
% See also: local, map. From: pMatlab 2.0.15.
if nargin < 2
  dims = 1:ndims(x);
end
varargout = cell(1, numel(dims));
for k = 1:numel(dims)
  varargout{k} = [0, 1, size(x, dims(k))];
end

%!test
%! D = zeros(4, 6, map([1 Np], {}, 0:Np-1));
%! assert(global_block_ranges(D, 2), [0 1 6]);

%!assert(global_block_ranges(zeros(4, 6), 2), [0 1 6])
