function rows = by_ranks(d, k, list_of)
% BY_RANKS makes the tables of global_inds and its like: a row for each rank of the grid, the
% last dimension of the grid fastest, with the rank and what list_of gives for dimension k,
% filled up with zeros.
shape = d.layout.shape;
count = prod(shape);
order = reshape(1:count, [shape 1]);
order = reshape(permute(order, [numel(shape):-1:1, numel(shape) + 1]), 1, []);
lists = cell(1, shape(k));
for p = 1:shape(k)
  lists{p} = list_of(d.layout.dims(k), p);
end
rows = zeros(count, 1 + max(cellfun('prodofsize', lists)));
for row = 1:count
  p = postrider.maps.subscripts(shape, order(row));
  list = lists{p(k)};
  rows(row, 1:1 + numel(list)) = [d.layout.grid(order(row)), list];
end
