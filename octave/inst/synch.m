function x = synch(x)
% SYNCH brings the copies of overlapping indices up to date.
%
%   D = synch(D)
%
% If the map of D has an overlap, the last indices of a part are copies of the first ones of
% the next parts; they are replaced by the values that their owners have. All ranks call it.
% Without an overlap, and for plain arrays, nothing happens.
%
% Example: Z = zeros(100, 100, map([Np 1], {}, 0:Np-1, [1 0])); Z = synch(Z);
%
% See also: synch2, map. From: pMatlab 2.0.15.

%!test
%! D = remap(magic(4), map([Np 1], {}, 0:Np-1, [1 0]));
%! assert(agg(synch(D)), magic(4));
%! assert(synch(5), 5);
