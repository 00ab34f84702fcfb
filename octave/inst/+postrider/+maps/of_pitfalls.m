function dim = of_pitfalls(p, len)
% OF_PITFALLS describes a dimension from pMatlab's structure of all its parts.
%
%   dim = postrider.maps.of_pitfalls(p, len)
%
% p is one structure of postrider.maps.pitfalls, len the length of the dimension.
dim = postrider.maps.dimension(len, p.p, struct('dist', 'bc', 'b_size', p.d), p.r - p.l + 1 - p.d);
