function varargout = global_ranges(x, dims)
% GLOBAL_RANGES lists first and last index of each unbroken run that each rank has.
%
%   r = global_ranges(D, dim)
%   [r1, r2, ...] = global_ranges(D)
%
% r is a matrix with a row [rank first last first last ...] for each part, filled up with
% zeros; with one output for each dimension if dim is not given, or one for each of several
% dims. Copies of overlapping indices are included. The rows of tables follow the grid, its
% last dimension fastest. For a plain array it is [1 size(X, dim)], without a rank.
%
% Example: columns = global_ranges(D, 2);
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
%! assert(global_ranges(D, 2), [0 1 6]);

%!assert(global_ranges(zeros(4, 6), 2), [1 6])
