function whole = oagg(x)
% OAGG is agg, under the name of pMatlab's older function.
%
%   A = oagg(D)
%
% See also: agg.
whole = x;
