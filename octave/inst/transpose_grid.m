function r = transpose_grid(x)
% TRANSPOSE_GRID redistributes a matrix to the transposed grid: rows to columns and back.
%
%   R = transpose_grid(D)
%
% R has the elements of D. Its map has the distributions and the list of ranks of that of D,
% and a grid with the numbers of rows and columns exchanged: [1 4] becomes [4 1]. A plain
% matrix is returned as it is.
%
% Errors: pMatlab:dimension if there are not two dimensions.
%
% Example: D = transpose_grid(D); D = put_local(D, fft(local(D), [], 2));
%
% See also: remap. From: pMatlab 2.0.15.
if ndims(x) ~= 2 %#ok<ISMAT>
  error('pMatlab:dimension', 'transpose_grid is for arrays of two dimensions, this one has %d', ndims(x));
end
r = x;

%!test
%! D = transpose_grid(remap(magic(4), map([1 Np], {}, 0:Np-1)));
%! assert(agg(D), magic(4));
%! assert(size(grid(D)), [Np 1]);

%!assert(transpose_grid(magic(4)), magic(4))
%!error id=pMatlab:dimension transpose_grid(zeros(2, 2, 2))
