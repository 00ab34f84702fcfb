function t = ctranspose(d)
% CTRANSPOSE: D', the complex conjugate transpose, with the map of D.
t = turned(d, @ctranspose);
