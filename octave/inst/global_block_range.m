function varargout = global_block_range(x, dims)
% GLOBAL_BLOCK_RANGE gives first and last index that this rank has.
%
%   r = global_block_range(D, dim)
%   [r1, r2, ...] = global_block_range(D)
%
% r is a row [first last], [] if there is none; with one output for each dimension if dim is
% not given, or one for each of several dims. Copies of overlapping indices are included. The
% rows of tables follow the grid, its last dimension fastest. For a plain array it is [1
% size(X, dim)].
%
% Example: columns = global_block_range(D, 2);
%
% See also: local, map. From: pMatlab 2.0.15.
if nargin < 2
  dims = 1:ndims(x);
end
varargout = cell(1, numel(dims));
for k = 1:numel(dims)
  varargout{k} = [1, size(x, dims(k))];
end

%!test
%! D = zeros(4, 6, map([1 Np], {}, 0:Np-1));
%! assert(global_block_range(D, 2), [1 6]);
%! [rows, columns] = global_block_range(D);
%! assert({rows, columns}, {[1 4], [1 6]});

%!assert(global_block_range(zeros(4, 6), 2), [1 6])
