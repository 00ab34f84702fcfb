function d = fitted(d, sizes)
% FITTED gives a distributed array other dimensions of length 1, so that it has size sizes.
%
% A 1-by-5 array can be assigned to A(2, 3, :), for instance.
if ~isequal(d.sizes(d.sizes ~= 1), sizes(sizes ~= 1))
  error('pMatlab:size', 'A(...) = B: the index means a size of %s, and B has %s', mat2str(sizes), mat2str(d.sizes));
end
l = d.layout;
index = repmat({':'}, 1, numel(d.sizes));
index(d.sizes == 1) = {1};
for k = find(d.sizes == 1)
  index{k} = postrider.maps.owner(l.dims(k), 1);
end
kept = l.dims(d.sizes ~= 1);
l.grid = l.grid(index{:});
l.dims = repmat(postrider.maps.dimension(1, 1, struct('dist', 'b')), 1, numel(sizes));
l.dims(sizes ~= 1) = kept;
l.shape = [l.dims.parts];
l.grid = reshape(l.grid, [l.shape 1]);
l.key = postrider.maps.key(l);
part = d.part;
d = dmat(sizes, d.map, l);
d.part = reshape(part(1:numel(part) * ~isempty(d.place)), [d.extent 1]);
