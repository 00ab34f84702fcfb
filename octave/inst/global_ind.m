function varargout = global_ind(x, dims)
% GLOBAL_IND lists the indices that this rank has, in the whole array.
%
%   r = global_ind(D, dim)
%   [r1, r2, ...] = global_ind(D)
%
% r is a row; with one output for each dimension if dim is not given, or one for each of
% several dims. Copies of overlapping indices are included. The rows of tables follow the grid,
% its last dimension fastest. For a plain array it is 1:size(X, dim).
%
% Example: columns = global_ind(D, 2);
%
% See also: local, map. From: pMatlab 2.0.15.
if nargin < 2
  dims = 1:ndims(x);
end
varargout = cell(1, numel(dims));
for k = 1:numel(dims)
  varargout{k} = 1:size(x, dims(k));
end

%!test
%! D = zeros(4, 6, map([1 Np], {}, 0:Np-1));
%! [rows, columns] = global_ind(D);
%! assert({rows, columns}, {1:4, 1:6});

%!assert(global_ind(zeros(4, 6), 2), 1:6)
