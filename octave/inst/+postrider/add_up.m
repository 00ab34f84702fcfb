function part = add_up(partial, layout, k)
% ADD_UP adds up the partial sums of the ranks along dimension k of a grid.
%
%   part = postrider.add_up(partial, layout, k)
%
% partial has the size of the local part that layout gives, but all indices of dimension k.
% Each rank of the line receives its own indices of dimension k from the others and adds them
% up in the order of the grid, so that the result does not depend on who is first.
world = postrider.pmatlab();
tag = postrider.next_tag();
p = postrider.maps.position(layout, world.my_rank);
part = [];
if isempty(p)
  return
end
line = zeros(1, layout.shape(k));
pieces = cell(1, numel(line));
for q = 1:numel(line)
  at = num2cell(p);
  at{k} = q;
  line(q) = layout.grid(at{:});
  index = repmat({':'}, 1, numel(p));
  index{k} = postrider.maps.indices(layout.dims(k), q);
  if numel(line) == 1
    pieces{q} = partial;
    break
  end
  pieces{q} = partial(index{:});
  if line(q) ~= world.my_rank
    MPI_Send(line(q), tag, world.comm, pieces{q});
  end
end
for q = 1:numel(line)
  value = pieces{q};
  if line(q) ~= world.my_rank
    value = MPI_Recv(line(q), tag, world.comm);
  end
  if q == 1
    part = value;
  else
    part = part + value;
  end
end
