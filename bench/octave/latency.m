% One-way time of a message between two processes, from the value on one side to the value on the other.
%
% Usage: postrider run -n 2 octave latency.m FRONT BUDGET_MS SIZES [FIGURE]
%
% A vector of doubles goes to and fro; half a round trip is the figure, in microseconds, and the size by that time is the bandwidth.
% Rank 1 answers as many messages as rank 0 announces with tag 0, until it announces none. FIGURE is the name in
% the results, latency unless it is given.

1;

function seconds = batch(bench, value, iterations)
  bench.front.send(iterations, 1, 0, bench.comm);
  start = tic;
  returned = bench.front.round_trips(value, iterations, 1, bench.comm);
  seconds = toc(start);
  if ~isequal(returned, value)
    error('bench:contents', 'latency: a vector of %d elements came back with other contents', numel(value));
  end
end

function answer(bench, value)
  iterations = bench.front.receive(0, 0, 0, bench.comm);
  while iterations > 0
    bench.front.answers(value, iterations, 0, bench.comm);
    iterations = bench.front.receive(0, 0, 0, bench.comm);
  end
end

addpath(fullfile(fileparts(mfilename('fullpath')), 'harness'));
words = argv();
bench = open_bench(words);
figure = 'latency';
if numel(words) > 3
  figure = words{4};
end
if bench.ranks ~= 2
  error('bench:ranks', 'latency needs 2 ranks, not %d', bench.ranks);
end
for bytes = bench.sizes
  if bench.rank == 0
    value = rand(bytes / 8, 1);
    times_s = measure(bench, @(iterations) batch(bench, value, iterations));
    bench.front.send(0, 1, 0, bench.comm);
    print_record(figure, 2, bytes, 5e5 * times_s, 'us');
  else
    answer(bench, zeros(bytes / 8, 1));
  end
  % Two messages of the same name overwrite each other in MatlabMPI's files: the next size is not announced before the last one has ended.
  line_up(bench);
end
bench.front.close();
