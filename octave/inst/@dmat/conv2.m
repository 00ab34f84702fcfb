function r = conv2(a, b, shape)
% CONV2: two-dimensional convolution of a distributed array with a kernel.
%
%   R = conv2(A, B)
%   R = conv2(A, B, 'full' | 'same' | 'valid')
%
% A is distributed, B a plain kernel, the same on all ranks. R has the map of A and the values
% that conv2 of plain arrays gives: what a rank needs of the parts around its own is fetched.
%
% Errors: pMatlab:dimension, pMatlab:arguments.
if nargin < 3
  shape = 'full';
end
if ~isa(a, 'dmat')
  if ~strcmp(shape, 'full')
    error('pMatlab:arguments', 'with a distributed kernel conv2 has the shape full only');
  end
  [a, b] = deal(b, a);
end
if isa(b, 'dmat')
  b = agg_all(b);
end
if numel(a.sizes) ~= 2
  error('pMatlab:dimension', 'conv2 is for arrays of two dimensions');
end
[sizes, offset] = result_size(a.sizes, size(b), shape);
r = dmat(sizes, a.map);
needed = a.layout;
needed.grid = r.layout.grid;
needed.dims = r.layout.dims;
for k = 1:2
  needed.dims(k) = around(r.layout.dims(k), a.sizes(k), offset(k), size(b, k));
end
needed.key = '';
a = checked(a);
world = postrider.pmatlab();
steps = postrider.maps.plan(a.layout, needed, world.my_rank);
p = r.place;
input = postrider.redistribute(steps, a.part, postrider.maps.local_size(needed, p));
r.part = zeros(r.extent, class(input));
if ~isempty(p) && ~isempty(r.part)
  whole = conv2(input, b);
  index = cell(1, 2);
  for k = 1:2
    list = postrider.maps.indices(r.layout.dims(k), p(k)) + offset(k);
    index{k} = list - needed.dims(k).stored{p(k)}(1) + 1;
  end
  r.part = whole(index{:});
end

% Index i of the result is index i + offset of the full convolution.
function [sizes, offset] = result_size(a, b, shape)
switch shape
  case 'full'
    sizes = a + b - 1;
    offset = [0 0];
  case 'same'
    sizes = a;
    offset = floor(b / 2);
  case 'valid'
    sizes = max(a - b + 1, 0);
    offset = b - 1;
  otherwise
    error('pMatlab:arguments', 'the shape of conv2 is full, same or valid, not %s', shape);
end

% What each position needs of A: from the first to the last index that its results depend on.
function dim = around(dim, len, offset, width)
result = dim;
dim.length = len;
dim.stored = cell(1, dim.parts);
for p = 1:dim.parts
  list = postrider.maps.indices(result, p) + offset;
  dim.stored{p} = zeros(1, 0);
  if ~isempty(list)
    dim.stored{p} = max(list(1) - width + 1, 1):min(list(end), len);
  end
end
dim.owned = dim.stored;
