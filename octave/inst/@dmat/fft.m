function r = fft(d, n, dim)
% FFT: discrete Fourier transform along a dimension of a distributed array.
%
%   R = fft(D)
%   R = fft(D, N)
%   R = fft(D, N, DIM)
%
% As fft of plain arrays. A dimension that is not cut is transformed on each rank by itself. If
% it is cut, the array is remapped first, and R has the new map: the other dimension cut, or
% the last one of more than two. No transform is cut among ranks; see examples of pMatlab
% (pFFT) for one long vector as a matrix.
if nargin < 3
  dim = first_dimension(d);
end
if nargin < 2 || isempty(n)
  n = size(d, dim);
end
r = transformed(d, @(x, k) fft(x, n, k), n, dim);
