function p = subscripts(shape, number)
% SUBSCRIPTS gives the position in each dimension of an element of a grid.
%
%   p = postrider.maps.subscripts(shape, number)
%
% number counts the elements from 1, the first dimension fastest.
steps = cumprod([1, shape(1:end - 1)]);
p = mod(floor((number - 1) ./ steps), shape) + 1;
