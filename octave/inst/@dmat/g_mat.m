function whole = g_mat(d)
% G_MAT: the same as agg_all, under pMatlab's other name.
whole = agg_all(d);
