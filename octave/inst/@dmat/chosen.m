function part = chosen(d, subs)
% CHOSEN is A(subs): a distributed array of the chosen elements, which stay where they are.
%
% A single number in a dimension leaves the ranks that own it; a list leaves the map as it is.
% As for plain arrays, dimensions of length 1 at the end are dropped, down to two.
lists = index_lists(d, subs);
count = numel(d.sizes);
sizes = d.sizes;
dims = d.layout.dims;
p = d.place;
at = repmat({':'}, 1, count);
grid_index = repmat({':'}, 1, count);
for k = 1:count
  list = lists{k};
  if ischar(list)
    continue
  end
  sizes(k) = numel(list);
  if ~isempty(p)
    [~, at{k}] = postrider.maps.locate(dims(k), p(k), list, false);
  end
  if numel(list) == 1
    grid_index{k} = postrider.maps.owner(dims(k), list);
    dims(k) = postrider.maps.dimension(1, 1, struct('dist', 'b'));
  else
    dims(k) = postrider.maps.selection(dims(k), list);
  end
end
l = narrowed(d.layout, dims, grid_index);
last = max([find(sizes ~= 1 | l.shape ~= 1), 2]);
m = map_of(l, d.map, last);
l.dims = l.dims(1:last);
l.shape = l.shape(1:last);
l.key = postrider.maps.key(l);
part = dmat(sizes(1:last), m, l);
if isempty(part.place)
  part.part = d.part([]);
else
  part.part = d.part(at{:});
end

% The layout on the part of the grid that is left.
function l = narrowed(l, dims, grid_index)
l.grid = l.grid(grid_index{:});
l.dims = dims;
l.shape = size(l.grid);
l.shape(end + 1:numel(dims)) = 1;

% The map of what is left.
function m = map_of(l, m, last)
m.dim = last;
m.grid = l.grid;
m.proc_list = reshape(l.grid, 1, []);
dist = m.dist_spec;
dist(end + 1:last) = dist(end);
m.dist_spec = dist(1:last);
if ~isempty(m.overlap)
  m.overlap = [l.dims(1:last).overlap];
end
