function whole = reconstruct(pitfalls, grid, parts, sizes)
% RECONSTRUCT puts the parts of a distributed array together.
%
%   A = reconstruct(pitfalls(D), grid(D), parts, size(D))
%
% parts is a cell of the shape of the grid with the local parts; empty ones are left out, as
% zeros. A has the class of the first part, and is sparse if that is.
%
% Example: parts{r + 1} = RecvMsg(r, tag); ... A = reconstruct(pitfalls(D), grid(D), parts, size(D));
%
% See also: agg, pitfalls. From: pMatlab 2.0.15.
for k = numel(pitfalls):-1:1
  dims(k) = postrider.maps.of_pitfalls(pitfalls(k), sizes(k));
end
if issparse(parts{1})
  whole = sparse(sizes(1), sizes(2));
else
  whole = zeros(sizes, class(parts{1}));
end
for number = 1:numel(grid)
  p = postrider.maps.subscripts([dims.parts], number);
  index = cell(1, numel(dims));
  for k = 1:numel(dims)
    index{k} = postrider.maps.indices(dims(k), p(k));
  end
  if ~isempty(parts{number})
    whole(index{:}) = parts{number};
  end
end

%!test
%! D = zeros(2, 4, map([1 Np], {}, 0:Np-1));
%! assert(reconstruct(pitfalls(D), grid(D), {magic(4)(1:2, :)}, size(D)), magic(4)(1:2, :));
