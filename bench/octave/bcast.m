% Time of a broadcast, whose root moves on by one rank with every call, so that calls do not overlap.
%
% Usage: postrider run -n N octave bcast.m FRONT BUDGET_MS SIZES
%
% Rank 0 announces how many will come, with tag 0, until it announces none.

1;

function seconds = batch(bench, value, iterations)
  for other = 1:bench.ranks - 1
    bench.front.send(iterations, other, 0, bench.comm);
  end
  line_up(bench);
  start = tic;
  bench.front.broadcasts(value, iterations, bench.ranks, bench.comm);
  seconds = toc(start);
  line_up(bench);
end

function follow(bench, value)
  iterations = bench.front.receive(0, 0, 0, bench.comm);
  while iterations > 0
    line_up(bench);
    returned = bench.front.broadcasts(value, iterations, bench.ranks, bench.comm);
    line_up(bench);
    if ~isequal(returned, value)
      error('bench:contents', 'bcast: a vector of %d elements arrived with other contents', numel(value));
    end
    iterations = bench.front.receive(0, 0, 0, bench.comm);
  end
end

addpath(fullfile(fileparts(mfilename('fullpath')), 'harness'));
bench = open_bench(argv());
for bytes = bench.sizes
  value = (1:bytes / 8)';
  if bench.rank == 0
    times_s = measure(bench, @(iterations) batch(bench, value, iterations));
    for other = 1:bench.ranks - 1
      bench.front.send(0, other, 0, bench.comm);
    end
    print_record('bcast', bench.ranks, bytes, 1e6 * times_s, 'us');
  else
    follow(bench, value);
  end
  % As in latency.m: no two messages of the same name are under way.
  line_up(bench);
end
bench.front.close();
