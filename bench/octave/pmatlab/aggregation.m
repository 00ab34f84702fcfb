% agg: an array that is distributed over all ranks comes together on rank 0.
%
% Usage: postrider run --hosts h1:1,h2:1,... octave aggregation.m BUDGET_MS BYTES
%
% The time is that of rank 0, from the moment when all ranks are there until it has the array. bench/src/aggregation.c does the same
% by MPI_Gather.

addpath(fullfile(fileparts(fileparts(mfilename('fullpath'))), 'harness'));
bench = open_pmatlab(argv());
a = zeros(1, bench.size / 8, map([1 bench.ranks], {}, bench.all));
a = put_local(a, global_ind(a, 2));
repetitions = 3;
times_s = zeros(1, repetitions);
for i = 0:repetitions
  slowest(bench, 0);
  start = tic;
  whole = agg(a);
  if i > 0
    times_s(i) = toc(start);
  end
end
if bench.rank == 0
  if ~isequal(whole, 1:bench.size / 8)
    error('bench:contents', 'aggregation: the array is not what was distributed');
  end
  print_record('aggregation', bench.ranks, bench.size, 1e3 * times_s, 'ms');
end
pMatlab_Finalize;
