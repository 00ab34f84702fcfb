function c = mtimes(a, b)
% MTIMES: matrix product, of which at least one factor is distributed.
%
%   C = A * B
%
% C has the map of A, or that of B if A is plain. Each rank fetches the rows of B (columns of
% A) that its part of the other factor meets, and multiplies; where the inner dimension is cut,
% the sums are completed among the ranks of a row (column) of the grid. Cheapest is A cut by
% rows only with a plain B: nothing is sent. A scalar multiplies element by element.
%
% Errors: pMatlab:size if the inner dimensions differ, pMatlab:dimension.
if prod(size(a)) == 1 || prod(size(b)) == 1 %#ok<PSIZE>
  c = times(a, b);
  return
end
if ndims(a) ~= 2 || ndims(b) ~= 2 %#ok<ISMAT>
  error('pMatlab:dimension', 'a product of matrices has factors of two dimensions');
elseif size(a, 2) ~= size(b, 1)
  error('pMatlab:size', 'A * B: A has %d columns and B %d rows', size(a, 2), size(b, 1));
end
sizes = [size(a, 1), size(b, 2)];
if isa(a, 'dmat')
  c = product(a, b, sizes, 1);
else
  c = product(b, a, sizes, 2);
end

% kept is the dimension of the factor d that the result has as well, the other one is summed.
function c = product(d, factor, sizes, kept)
inner = 3 - kept;
regular = dmat(sizes, d.map);
layout = d.layout;
layout.dims(inner) = regular.layout.dims(inner);
layout.key = postrider.maps.key(layout);
c = dmat(sizes, d.map, layout);
p = d.place;
met = met_by(factor, d, inner);
partial = [];
if ~isempty(p)
  at = repmat({':'}, 1, 2);
  owned = postrider.maps.indices(d.layout.dims(inner), p(inner), true);
  [~, at{inner}] = postrider.maps.locate(d.layout.dims(inner), p(inner), owned, true);
  part = d.part(at{:});
  if kept == 1
    partial = part * met;
  else
    partial = met * part;
  end
end
c.part = postrider.add_up(partial, c.layout, inner);

% What this rank's owned share of the inner dimension of d meets in the other factor.
function met = met_by(factor, d, inner)
p = d.place;
if ~isa(factor, 'dmat')
  met = [];
  if ~isempty(p)
    at = repmat({':'}, 1, 2);
    at{3 - inner} = postrider.maps.indices(d.layout.dims(inner), p(inner), true);
    met = factor(at{:});
  end
  return
end
outer = 3 - inner;
dim = d.layout.dims(inner);
lists = cell(1, dim.parts);
for k = 1:dim.parts
  lists{k} = postrider.maps.indices(dim, k, true);
end
dim.stored = lists;
dim.owned = lists;
needed.dims = dim;
needed.dims(outer) = dim;
needed.dims(inner) = postrider.maps.everywhere(factor.sizes(inner), d.layout.shape(outer));
needed.grid = d.layout.grid.';
needed.shape = fliplr(d.layout.shape);
needed.key = '';
factor = checked(factor);
world = postrider.pmatlab();
steps = postrider.maps.plan(factor.layout, needed, world.my_rank);
size_here = postrider.maps.local_size(needed, postrider.maps.position(needed, world.my_rank));
met = postrider.redistribute(steps, factor.part, size_here);
