function part = local(x)
% LOCAL returns the part of a distributed array that this rank has.
%
%   L = local(D)
%
% L is a plain array. A rank that is not in the map has an empty one. A plain array is returned
% as it is, so that a program runs with and without maps. Loops over elements work on L, since
% an index of a distributed array costs some 500 microseconds.
%
% Example: L = local(D); D = put_local(D, 2 * L);
%
% See also: put_local, global_ind, agg. From: pMatlab 2.0.15.
part = x;

%!test
%! D = zeros(4, 6, map([1 Np], {}, 0:Np-1));
%! assert(local(D), zeros(4, 6));

%!assert(local(magic(3)), magic(3))
