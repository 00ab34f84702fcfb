function r = remap(x, new_map)
% REMAP redistributes an array to another map.
%
%   R = remap(D, m)
%
% R has the elements and the class of D and the map m. All ranks call it, also those that are
% in neither map; each sends at most one message to each other. The plan is kept, so that the
% same pair of maps costs no more than the data. D may be plain and the same everywhere; if m
% is 1 instead of a map, R is plain on all ranks.
%
% Errors: pMatlab:dimension, pMatlab:rank if the map names a rank that does not run.
%
% Example: rows = remap(columns, map([Np 1], {}, 0:Np-1));
%
% See also: transpose_grid, agg, map. From: pMatlab 2.0.15.
r = x;
if isa(new_map, 'map')
  sizes = size(x);
  sizes(end + 1:new_map.dim) = 1;
  r = dmat(sizes, new_map);
  index = cell(1, ndims(r));
  [index{:}] = global_ind(r);
  r = put_local(r, x(index{:}));
end

%!test
%! columns = remap(magic(6), map([1 Np], {}, 0:Np-1));
%! rows = remap(columns, map([Np 1], 'c', 0:Np-1));
%! assert(agg(rows), magic(6));
%! assert(remap(rows, 1), magic(6));

%!error id=pMatlab:rank remap(zeros(6, map([1 Np], {}, 0:Np-1)), map([1 2], {}, [0 5]));

%!demo
%! columns = rand(4, 4, map([1 Np], {}, 0:Np-1));
%! rows = remap(columns, map([Np 1], {}, 0:Np-1));
%! same = isequal(agg(rows), agg(columns))
