function [rows, columns, values] = find(d)
% FIND: indices of the elements that are not zero, on all ranks of the map.
%
%   [I, J] = find(D)
%   [I, J, V] = find(D)
%   K = find(D)
%
% Columns of indices in the whole array, on each rank of the map the same; [] elsewhere. They
% come in the order of the grid, its first dimension fastest: part after part. K are linear
% indices.
d = checked(d);
p = d.place;
tag = postrider.next_tag();
rows = [];
columns = [];
values = [];
if isempty(p)
  return
end
world = postrider.pmatlab();
[mine.rows, mine.columns, mine.values] = found(d, p);
ranks = d.layout.grid(:)';
others = ranks(ranks ~= world.my_rank);
for rank = others
  MPI_Send(rank, tag, world.comm, mine.rows, mine.columns, mine.values);
end
for rank = ranks
  theirs = mine;
  if rank ~= world.my_rank
    [theirs.rows, theirs.columns, theirs.values] = MPI_Recv(rank, tag, world.comm);
  end
  rows = [rows; theirs.rows]; %#ok<AGROW>
  columns = [columns; theirs.columns]; %#ok<AGROW>
  values = [values; theirs.values]; %#ok<AGROW>
end
if nargout < 2
  rows = rows + (columns - 1) * d.sizes(1);
end

% As with plain arrays, columns runs through all dimensions from the second.
function [rows, columns, values] = found(d, p)
count = numel(p);
lists = cell(1, count);
at = cell(1, count);
for k = 1:count
  lists{k} = postrider.maps.indices(d.layout.dims(k), p(k), true);
  [~, at{k}] = postrider.maps.locate(d.layout.dims(k), p(k), lists{k}, true);
end
part = d.part(at{:});
[here, there, values] = find(part);
rows = reshape(lists{1}(here), [], 1);
columns = ones(size(rows));
step = 1;
rest = there(:) - 1;
for k = 2:count
  columns = columns + (reshape(lists{k}(mod(rest, numel(lists{k})) + 1), [], 1) - 1) * step;
  rest = floor(rest / numel(lists{k}));
  step = step * d.sizes(k);
end
values = values(:);
