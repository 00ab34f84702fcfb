function x = put_local(x, part) %#ok<INUSL>
% PUT_LOCAL replaces the part of a distributed array that this rank has.
%
%   D = put_local(D, L)
%
% L is usually of the size of local(D). Any value is taken; what needs all parts, agg for
% instance, refuses one of another size (pMatlab:size). If D is plain, L is returned.
%
% Example: D = put_local(D, 2 * local(D));
%
% See also: local. From: pMatlab 2.0.15.
x = part;

%!test
%! D = zeros(4, map([1 Np], {}, 0:Np-1));
%! D = put_local(D, local(D) + 3);
%! assert(agg(D), 3 * ones(4));

%!assert(put_local(1, 2), 2)
