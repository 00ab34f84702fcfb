% RandomAccess: updates of random elements of a distributed table, sent to their owners in batches.
%
% Usage: postrider run -n N octave random_access.m BUDGET_MS ELEMENTS
%
% Every rank makes its part of four updates for each element. An update is the exclusive or of an element and a value, so that the same
% updates once more give back the table, which is how it is checked. The figure is millions of updates in a second.

1;

% Elements that occur more than once are updated once in each turn.
function table = update(table, places, values)
  while ~isempty(places)
    [once, which] = unique(places);
    table(once) = bitxor(table(once), values(which));
    places(which) = [];
    values(which) = [];
  end
end

% `owners` has a row [rank first last] for each rank.
function table = exchange(table, places, values, owners, bench)
  for other = bench.all(bench.all ~= bench.rank)
    range = owners(owners(:, 1) == other, 2:3);
    theirs = places >= range(1) & places <= range(2);
    SendMsg(other, 21, places(theirs) - range(1) + 1, values(theirs));
  end
  range = owners(owners(:, 1) == bench.rank, 2:3);
  own = places >= range(1) & places <= range(2);
  table = update(table, places(own) - range(1) + 1, values(own));
  for other = bench.all(bench.all ~= bench.rank)
    [places, values] = RecvMsg(other, 21);
    table = update(table, places, values);
  end
end

addpath(fullfile(fileparts(fileparts(mfilename('fullpath'))), 'harness'));
bench = open_pmatlab(argv());
n = bench.size;
distributed = zeros(1, n, map([1 bench.ranks], {}, bench.all));
owners = global_block_ranges(distributed, 2);
before = global_ind(distributed, 2);
table = before;
count = ceil(4 * n / bench.ranks);
places = ceil(n * rand(1, count));
values = floor(2 ^ 52 * rand(1, count));
% An even number of turns, so that all updates have come twice at the end.
repetitions = 4;
rates = zeros(1, repetitions);
for i = 1:repetitions
  slowest(bench, 0);
  start = tic;
  table = exchange(table, places, values, owners, bench);
  rates(i) = 1e-6 * count * bench.ranks / slowest(bench, toc(start));
end
if ~isequal(table, before)
  error('bench:contents', 'random_access: %d elements are not what they were', sum(table ~= before));
end
if bench.rank == 0
  print_record('random-access', bench.ranks, 8 * n, rates, 'million/s');
end
pMatlab_Finalize;
