function whole = oagg(d)
% OAGG: the same as agg, under the name of pMatlab's older function.
whole = agg(d);
