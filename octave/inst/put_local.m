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
