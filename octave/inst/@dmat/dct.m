function r = dct(d)
% DCT: discrete cosine transform of each column of a distributed array (of a row, if it is one).
%
%   R = dct(D)
%
% y(k) = w(k) sum(x(n) cos(pi (2n-1)(k-1) / 2N)), w(1) = sqrt(1/N), w(k) = sqrt(2/N): the
% orthonormal transform that idct inverts. If the dimension is cut the array is remapped first,
% as fft does it.
dim = first_dimension(d);
r = transformed(d, @cosine, size(d, dim), dim);

% By a Fourier transform of the signal followed by its mirror image.
function y = cosine(x, dim)
order = [dim, 1:dim - 1, dim + 1:max(ndims(x), dim)];
x = permute(x, order);
n = size(x, 1);
columns = reshape(x, n, []);
twice = fft([columns; flipud(columns)], [], 1);
k = (0:n - 1)';
weight = exp(-1i * pi * k / (2 * n)) / 2 * sqrt(2 / n);
weight(1) = weight(1) / sqrt(2);
y = bsxfun(@times, twice(1:n, :), weight);
if isreal(x)
  y = real(y);
end
y = ipermute(reshape(y, size(x)), order);
