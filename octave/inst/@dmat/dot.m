function r = dot(a, b, dim)
% DOT: scalar product along a dimension of two arrays, of which one may be plain.
%
%   R = dot(A, B)
%   R = dot(A, B, DIM)
%
% DIM is the first dimension whose length is not 1 by default. R is distributed over the map of
% A (of B if A is plain); where the dimension is cut, the sums are completed among the ranks.
%
% Errors: pMatlab:size if the sizes differ.
if ~isequal(size(a), size(b))
  error('pMatlab:size', 'dot of arrays of size %s and %s', mat2str(size(a)), mat2str(size(b)));
end
products = binfun(@(x, y) conj(x) .* y, a, b);
if nargin < 3
  dim = first_dimension(products);
end
r = sum(products, dim);
