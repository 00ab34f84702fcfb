function save_dmat(d, file)
% SAVE_DMAT: writes a distributed array into one file; see help save_dmat.
%
% The first rank of the map makes the file, then each rank writes its owned elements where they
% belong, and all wait until the file is complete. The ranks share the file system.
d = checked(d);
world = postrider.pmatlab();
if world.my_rank == d.layout.grid(1)
  make_file(file, prod(d.sizes), class(d.part));
end
together(world);
p = d.place;
if ~isempty(p)
  write_part(d, p, file);
end
together(world);

function handle = opened(file, mode)
[handle, reason] = fopen(file, mode);
if handle < 0
  error('pMatlab:file', 'cannot open %s to write a distributed array: %s', file, reason);
end

% The file gets its length first, since a position behind its end cannot be sought.
function make_file(file, count, kind)
if ~any(strcmp(kind, {'double', 'single', 'int8', 'int16', 'int32', 'int64', 'uint8', 'uint16', 'uint32', 'uint64'}))
  error('pMatlab:class', 'save_dmat writes arrays of numbers, not of class %s', kind);
end
handle = opened(file, 'w');
close_it = onCleanup(@() fclose(handle));
while count > 0
  chunk = min(count, 2^20);
  if fwrite(handle, zeros(chunk, 1, kind), kind) ~= chunk
    error('pMatlab:file', 'the disk did not take all of %s', file);
  end
  count = count - chunk;
end

% Runs along the first dimension are written in one go.
function write_part(d, p, file)
handle = opened(file, 'r+');
close_it = onCleanup(@() fclose(handle));
kind = class(d.part);
example = zeros(1, 1, kind); %#ok<NASGU>
info = whos('example');
runs = postrider.maps.ranges(d.layout.dims(1), p(1), true);
lists = cell(1, numel(p));
at = cell(1, numel(p));
for k = 1:numel(p)
  lists{k} = postrider.maps.indices(d.layout.dims(k), p(k), true);
  [~, at{k}] = postrider.maps.locate(d.layout.dims(k), p(k), lists{k}, true);
end
part = full(d.part);
columns = reshape(part(at{:}), numel(lists{1}), []);
outer = cellfun('prodofsize', lists(2:end));
steps = cumprod([1, d.sizes(1:end - 1)]);
for column = 1:size(columns, 2)
  q = postrider.maps.subscripts(outer, column);
  offset = 0;
  for k = 2:numel(p)
    offset = offset + (lists{k}(q(k - 1)) - 1) * steps(k);
  end
  done = 0;
  for r = 1:size(runs, 1)
    count = runs(r, 2) - runs(r, 1) + 1;
    fseek(handle, (offset + runs(r, 1) - 1) * info.bytes, 'bof');
    if fwrite(handle, columns(done + 1:done + count, column), kind) ~= count
      error('pMatlab:file', 'the disk did not take all of %s', file);
    end
    done = done + count;
  end
end

% All ranks arrive before one goes on.
function together(world)
tag = postrider.next_tag();
others = setdiff(0:world.comm_size - 1, world.leader);
if world.my_rank == world.leader
  for rank = others
    MPI_Recv(rank, tag, world.comm);
  end
  for rank = others
    MPI_Send(rank, tag, world.comm, 0);
  end
else
  MPI_Send(world.leader, tag, world.comm, 0);
  MPI_Recv(world.leader, tag, world.comm);
end
