% FFT of one long vector in four steps: transforms of columns, factors, another map, transforms of rows.
%
% Usage: postrider run -n N octave fft_four_step.m BUDGET_MS POINTS
%
% The vector x is the matrix x(n1 * columns + n2), and POINTS is a power of 2. All the communication is in the change of the map from
% columns to rows. GFLOP/s count 5 N log2 N. The result is compared with fft once.

1;

function y = transform(x, n, by_rows)
  rows = size(x, 1);
  columns = global_ind(x, 2);
  factors = exp(-2i * pi / n * ((0:rows - 1)' * (columns - 1)));
  x = put_local(x, fft(local(x), [], 1) .* factors);
  y = remap(x, by_rows);
  y = put_local(y, fft(local(y), [], 2));
end

function compare(x, y)
  x = agg_all(x);
  y = agg_all(y);
  expected = fft(reshape(x.', [], 1));
  if norm(y(:) - expected) > 1e-10 * norm(expected)
    error('bench:contents', 'fft_four_step: the transform differs from fft by %g', norm(y(:) - expected));
  end
end

addpath(fullfile(fileparts(fileparts(mfilename('fullpath'))), 'harness'));
bench = open_pmatlab(argv());
rows = 2 ^ floor(log2(bench.size) / 2);
columns = bench.size / rows;
by_columns = map([1 bench.ranks], {}, bench.all);
by_rows = map([bench.ranks 1], {}, bench.all);
x = zeros(rows, columns, by_columns);
x = put_local(x, complex(rand(size(local(x))), rand(size(local(x)))));
compare(x, transform(x, bench.size, by_rows));
repetitions = 5;
rates = zeros(1, repetitions);
for i = 1:repetitions
  slowest(bench, 0);
  start = tic;
  transform(x, bench.size, by_rows);
  rates(i) = 5e-9 * bench.size * log2(bench.size) / slowest(bench, toc(start));
end
if bench.rank == 0
  print_record('fft', bench.ranks, 16 * bench.size, rates, 'GFLOP/s');
end
pMatlab_Finalize;
