function [to, from] = piece_types(steps, source, sizes, p)
% PIECE_TYPES makes the datatypes of the pieces that a plan sends and receives.
%
%   [to, from] = postrider.piece_types(steps, source, sizes, p)
%
% to and from are cells with an mpi.Datatype for each process, [] where there is no piece: the
% pieces of source, and of the array of the size `sizes` that results. They are kept for plans
% that have a key, as long as the plan is.
persistent keys kept next
if isempty(steps.key)
  [to, from] = made(steps, source, sizes, p);
  return
end
if isempty(keys)
  keys = repmat({''}, 1, 32);
  kept = cell(1, 32);
  next = 1;
end
key = [steps.key class(source) char('r' - isreal(source))];
at = find(strcmp(key, keys), 1);
if isempty(at)
  at = next;
  next = mod(next, numel(keys)) + 1;
  release(kept{at});
  kept{at} = cell(1, 2);
  [kept{at}{:}] = made(steps, source, sizes, p);
  keys{at} = key;
end
[to, from] = kept{at}{:};

function [to, from] = made(steps, source, sizes, p)
element = class(source);
if ~isreal(source)
  element = ['complex ' element];
end
to = cell(1, p.comm_size);
from = to;
for piece = steps.send
  to{piece.rank + 1} = mpi.Datatype.subarray(full_size(source, piece.index), piece.index, element);
end
for piece = steps.receive
  from{piece.rank + 1} = mpi.Datatype.subarray(padded(sizes, piece.index), piece.index, element);
end
if ~isempty(steps.copy)
  to{p.my_rank + 1} = mpi.Datatype.subarray(full_size(source, steps.copy.from), steps.copy.from, element);
  from{p.my_rank + 1} = mpi.Datatype.subarray(padded(sizes, steps.copy.to), steps.copy.to, element);
end

function n = full_size(array, index)
n = padded(size(array), index);

% As many dimensions as the index has, of which the last ones may be 1.
function n = padded(n, index)
n(end + 1:numel(index)) = 1;

function release(pair)
for k = 1:numel(pair)
  for type = pair{k}
    if ~isempty(type{1})
      type{1}.free();
    end
  end
end
