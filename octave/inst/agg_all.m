function whole = agg_all(x)
% AGG_ALL collects a distributed array on all ranks.
%
%   A = agg_all(D)
%
% A is the whole plain array on each rank. All ranks call it. A plain array is returned as it
% is.
%
% Errors: as those of agg.
%
% Example: A = agg_all(D); total = sum(A(:));
%
% See also: agg, gagg_all. From: pMatlab 2.0.15.
whole = x;

%!test
%! A = magic(4);
%! D = remap(A, map([1 Np], {}, 0:Np-1));
%! assert(agg_all(D), A);
%! assert(agg_all(A), A);
