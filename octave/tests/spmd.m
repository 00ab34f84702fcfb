% MATLAB's names for messages between workers, whose indices count from 1, and the older names for the same.
index = spmdIndex;
workers = spmdSize;
c = mpi.world;
assert(index, c.rank + 1);
assert(workers, c.size);
assert([labindex, numlabs], [index, workers]);

% One value to several workers, in order, and what is said of where it came from.
if index == 1
  spmdSend({'a', magic(4)}, 1:workers);
  spmdSend('second', 1:workers, 7);
  labSend(single(3), 1:workers, 7);
end
[value, source, tag] = spmdReceive(1);
assert(value, {'a', magic(4)});
assert([source, tag], [1, 0]);
[value, source, tag] = spmdReceive('any', 7);
assert(value, 'second');
assert([source, tag], [1, 7]);
[value, source, tag] = labReceive();
assert(value, single(3));
assert([source, tag], [1, 7]);
spmdBarrier;

% To a list of workers from each, received by worker from '' and with [] as tag.
others = [1:index-1, index+1:workers];
spmdSend(index, others, index);
from = [];
for k = others
  [value, source, tag] = spmdReceive('', []);
  assert([value, tag], [source, source]);
  from(end+1) = source;
end
assert(isequal(sort(from), others) || isempty(others));
spmdBarrier;

% A ring, with an open end.
right = mod(index, workers) + 1;
left = mod(index - 2, workers) + 1;
assert(spmdSendReceive(right, left, 10 * index), 10 * left);
assert(labSendReceive(right, left, {index}, 5), {left});
to = right;
if index == workers
  to = [];
end
from = left;
if index == 1
  from = [];
end
value = spmdSendReceive(to, from, index);
if index == 1
  assert(isempty(value));
else
  assert(value, index - 1);
end

% Broadcast from the first and from the last.
for source = [1, workers]
  if index == source
    value = spmdBroadcast(source, struct('of', source));
  else
    value = spmdBroadcast(source);
  end
  assert(value, struct('of', source));
end
assert(labBroadcast(1, 'same'), 'same');

% A probe does not wait, and does not take the value.
[waiting, source, tag] = spmdProbe;
assert(! waiting);
assert(islogical(waiting));
assert(isempty(source) && isempty(tag));
spmdBarrier;
spmdSend(rand(200), right, 9);
labBarrier;
while ! spmdProbe(left, 9)
end
[waiting, source, tag] = labProbe('any');
assert(waiting);
assert([source, tag], [left, 9]);
assert(! spmdProbe('any', 8));
assert(size(spmdReceive(source, tag)), [200, 200]);
assert(! spmdProbe);

% Reductions: in the order of workers, at all or at one.
assert(spmdPlus(index), workers * (workers + 1) / 2);
assert(gplus([index; 1]), [workers * (workers + 1) / 2; workers]);
assert(spmdReduce(@max, index), workers);
assert(spmdReduce('min', int8(index)), int8(1));
assert(gop(@(a, b) [a, b], char('a' + index - 1)), char('a' + (0:workers-1)));
assert(spmdCat(index), 1:workers);
assert(spmdCat([index, 0], 1), [(1:workers)', zeros(workers, 1)]);
assert(gcat({index}, 2), num2cell(1:workers));
results = {spmdPlus(index, workers), spmdReduce(@plus, index, workers), spmdCat(index, 1, workers), gcat(index, 2, workers)};
if index == workers
  total = workers * (workers + 1) / 2;
  assert(results, {total, total, (1:workers)', 1:workers});
else
  assert(all(cellfun('isempty', results)));
end

% What cannot be is an error with an identifier, and nothing is sent.
function refused(identifier, f, varargin)
  try
    f(varargin{:});
  catch problem
    assert(problem.identifier, identifier);
    return
  end
  error('%s was not refused', func2str(f));
end
refused('mpi:rank', @spmdSend, 1, [1, workers + 1]);
refused('mpi:rank', @spmdSend, 1, 0);
refused('mpi:rank', @spmdSend, 1, 1.5);
refused('mpi:rank', @spmdSend, 1, {1});
refused('mpi:argument', @spmdSend, 1, 1, -1);
refused('mpi:argument', @spmdSend, 1);
refused('mpi:rank', @spmdReceive, workers + 1);
refused('mpi:rank', @spmdReceive, 'all');
refused('mpi:rank', @spmdProbe, -1);
refused('mpi:rank', @spmdSendReceive, right, workers + 1, 1);
refused('mpi:argument', @spmdSendReceive, 1, 1);
refused('mpi:rank', @spmdBroadcast, workers + 1, 1);
refused('mpi:argument', @spmdBroadcast, index);
refused('mpi:rank', @spmdReduce, @plus, 1, 0);
refused('mpi:argument', @spmdReduce, @plus);
refused('mpi:argument', @spmdPlus);
refused('mpi:rank', @spmdCat, 1, 2, workers + 1);
spmdBarrier;
assert(! spmdProbe);
