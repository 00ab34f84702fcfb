function whole = g_mat(x)
% G_MAT is agg_all, under pMatlab's other name.
%
%   A = g_mat(D)
%
% Example: A = g_mat(D);
%
% See also: agg_all.
whole = x;

%!test
%! D = remap(magic(4), map([1 Np], {}, 0:Np-1));
%! assert(g_mat(D), magic(4));
%! assert(g_mat(7), 7);
