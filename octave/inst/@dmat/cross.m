function r = cross(a, b, dim)
% CROSS: vector product along a dimension of length 3, the first one by default.
%
%   R = cross(A, B)
%   R = cross(A, B, DIM)
%
% One of A and B may be plain. If the dimension is cut the distributed array is remapped first,
% as fft does it.
%
% Errors: pMatlab:size if the sizes differ or no dimension has length 3.
if ~isequal(size(a), size(b))
  error('pMatlab:size', 'cross of arrays of size %s and %s', mat2str(size(a)), mat2str(size(b)));
end
if nargin < 3
  dim = find(size(a) == 3, 1);
end
if isempty(dim) || size(a, dim) ~= 3
  error('pMatlab:size', 'cross needs a dimension of length 3, the size is %s', mat2str(size(a)));
end
if isa(a, 'dmat')
  a = along(a, dim);
end
if isa(b, 'dmat')
  b = along(b, dim);
end
r = binfun(@(x, y) product(x, y, dim), a, b);

function z = product(x, y, dim)
z = x;
if ~isempty(x)
  z = cross(x, y, dim);
end
