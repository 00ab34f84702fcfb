function whole = g_mat(x)
% G_MAT is agg_all, under pMatlab's other name.
%
%   A = g_mat(D)
%
% See also: agg_all.
whole = x;
