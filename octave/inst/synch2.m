function x = synch2(x)
% SYNCH2 adds up overlapping indices: owner and copy both become their sum.
%
%   D = synch2(D)
%
% The dimensions follow each other. All ranks call it. Without an overlap, and for plain
% arrays, nothing happens.
%
% Example: D = synch2(D);    % each rank has added something to its part, copies included
%
% See also: synch. From: pMatlab 2.0.15.

%!test
%! D = remap(magic(4), map([Np 1], {}, 0:Np-1, [1 0]));
%! assert(agg(synch2(D)), magic(4));
%! assert(synch2(5), 5);
