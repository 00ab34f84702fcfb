function r = idct(d)
% IDCT: inverse discrete cosine transform of each column (of a row, if it is one); see dct.
dim = first_dimension(d);
r = transformed(d, @inverse, size(d, dim), dim);

function x = inverse(y, dim)
if ~isreal(y)
  x = complex(inverse(real(y), dim), inverse(imag(y), dim));
  return
end
order = [dim, 1:dim - 1, dim + 1:max(ndims(y), dim)];
y = permute(y, order);
n = size(y, 1);
k = (0:n - 1)';
weight = exp(1i * pi * k / (2 * n)) * sqrt(2 / n) * 2 * n;
weight(1) = weight(1) / sqrt(2);
columns = bsxfun(@times, reshape(y, n, []), weight);
twice = ifft([columns; zeros(size(columns))], [], 1);
x = ipermute(reshape(real(twice(1:n, :)), size(y)), order);
