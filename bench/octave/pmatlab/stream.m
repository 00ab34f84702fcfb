% Stream: bandwidth of memory through distributed vectors. All work is on local parts, so that it says what distribution costs.
%
% Usage: postrider run -n N octave stream.m BUDGET_MS ELEMENTS
%
% The four kernels are copy, scale, add and triad; MB/s count what each reads and writes. The local parts are taken out of the
% distributed vectors and put back in each turn, as a program does.

1;

function [a, b, c] = kernel(name, a, b, c)
  switch name
    case 'copy'
      c = put_local(c, local(a) + 0);
    case 'scale'
      b = put_local(b, 3 * local(c));
    case 'add'
      c = put_local(c, local(a) + local(b));
    case 'triad'
      a = put_local(a, local(b) + 3 * local(c));
  end
end

addpath(fullfile(fileparts(fileparts(mfilename('fullpath'))), 'harness'));
bench = open_pmatlab(argv());
across = map([1 bench.ranks], {}, bench.all);
a = ones(1, bench.size, across);
b = ones(1, bench.size, across);
c = ones(1, bench.size, across);
names = {'copy', 'scale', 'add', 'triad'};
vectors = [2 2 3 3];
repetitions = 5;
for k = 1:4
  rates = zeros(1, repetitions);
  for i = 1:repetitions
    slowest(bench, 0);
    start = tic;
    [a, b, c] = kernel(names{k}, a, b, c);
    rates(i) = 8e-6 * vectors(k) * bench.size / slowest(bench, toc(start));
  end
  if bench.rank == 0
    print_record(['stream-' names{k}], bench.ranks, 8 * bench.size, rates, 'MB/s');
  end
end
% After the fifth turn c is 1 + 3, and a is 3 + 3 c.
if ~all(local(a) == 15)
  error('bench:contents', 'stream: an element is not 15 at the end');
end
pMatlab_Finalize;
