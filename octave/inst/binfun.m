function r = binfun(f, a, b)
% BINFUN applies a function to two arrays, element by element.
%
%   R = binfun(f, A, B)
%
% f is a function handle. If A or B is distributed, so is R: see help dmat. A plain array is the
% same on all ranks then, and its share is taken.
%
% Errors: pMatlab:size if the sizes do not fit.
%
% Example: R = binfun(@max, A, 0);
%
% From: pMatlab 2.0.15.
r = f(a, b);

%!assert(binfun(@max, [1 -1], 0), [1 0])

%!test
%! D = remap([1 -1; -2 2], map([1 Np], {}, 0:Np-1));
%! assert(agg(binfun(@max, D, 0)), [1 0; 0 2]);
