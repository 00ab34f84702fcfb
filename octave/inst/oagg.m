function whole = oagg(x)
% OAGG is agg, under the name of pMatlab's older function.
%
%   A = oagg(D)
%
% Example: A = oagg(D);
%
% See also: agg.
whole = x;

%!test
%! D = remap(magic(4), map([1 Np], {}, 0:Np-1));
%! assert(oagg(D), magic(4));
