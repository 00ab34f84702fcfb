function t = transpose(d)
% TRANSPOSE: D.', with the map of D.
%
% The array is remapped to the transposed grid, where each rank transposes its part.
t = turned(d, @transpose);
