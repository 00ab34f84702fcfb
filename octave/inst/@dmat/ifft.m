function r = ifft(d, n, dim)
% IFFT: inverse discrete Fourier transform along a dimension; arguments as those of fft.
if nargin < 3
  dim = first_dimension(d);
end
if nargin < 2 || isempty(n)
  n = size(d, dim);
end
r = transformed(d, @(x, k) ifft(x, n, k), n, dim);
