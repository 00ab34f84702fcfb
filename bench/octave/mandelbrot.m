% A Mandelbrot set in column blocks, which rank 0 collects: few messages, all of them large, at the end.
%
% Usage: postrider run -n N octave mandelbrot.m FRONT BUDGET_MS WIDTH
%
% The matrix is square with WIDTH points a side. Every point takes the same number of steps, so that equal blocks are equal work and
% what is lost is lost to messages. The figure is the time from the start of all to when rank 0 has the whole matrix.

1;

% How many of `steps` each point of some columns stays near the origin.
% Octave's own functions call its columns(), so this has another name.
function counts = counts_of_columns(width, first, last, steps)
  counts = zeros(width, last - first + 1);
  y = linspace(-1.2, 1.2, width)';
  x = linspace(-2, 0.5, width);
  for column = first:last
    c = x(column) + 1i * y;
    z = c;
    inside = zeros(width, 1);
    for step = 1:steps
      z = z .* z + c;
      inside = inside + (abs(z) <= 2);
    end
    counts(:, column - first + 1) = inside;
  end
end

function [first, last] = block(rank, ranks, width)
  first = floor(rank * width / ranks) + 1;
  last = floor((rank + 1) * width / ranks);
end

function whole = collect(bench, mine, width)
  whole = [];
  if bench.rank ~= 0
    bench.front.send(mine, 0, 1, bench.comm);
    return
  end
  blocks = cell(1, bench.ranks);
  blocks{1} = mine;
  for other = 1:bench.ranks - 1
    [first, last] = block(other, bench.ranks, width);
    blocks{other + 1} = bench.front.receive(zeros(width, last - first + 1), other, 1, bench.comm);
  end
  whole = [blocks{:}];
end

addpath(fullfile(fileparts(mfilename('fullpath')), 'harness'));
bench = open_bench(argv());
width = bench.sizes(1);
[first, last] = block(bench.rank, bench.ranks, width);
repetitions = 3;
times_s = zeros(1, repetitions);
for i = 1:repetitions
  line_up(bench);
  start = tic;
  whole = collect(bench, counts_of_columns(width, first, last, 50), width);
  times_s(i) = toc(start);
end
if bench.rank == 0
  if ~isequal(size(whole), [width width])
    error('bench:contents', 'mandelbrot: %d x %d points were collected, not %d x %d', size(whole), width, width);
  end
  print_record('mandelbrot', bench.ranks, 8 * width * width, 1e3 * times_s, 'ms');
end
bench.front.close();
