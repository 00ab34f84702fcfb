% HPL, a small one: LU factors with partial pivoting of a matrix in cyclic blocks of columns, and the solution of a system.
%
% Usage: postrider run -n N octave hpl.m BUDGET_MS ROWS
%
% The owner of a block of columns factors it and sends it to all, who swap their rows and subtract its product from what lies to the
% right. GFLOP/s count 2/3 n^3. The solution is that of rank 0, whose residual is compared with the rounding errors to be expected.

1;

% The factors in place of the matrix, and the order of the rows.
function [packed, order] = factor(panel)
  [lower, upper, order] = lu(panel, 'vector');
  packed = tril(lower, -1);
  width = size(upper, 1);
  packed(1:width, :) = packed(1:width, :) + upper;
end

function [packed, order] = panel_of(owner, panel, bench)
  if owner ~= bench.rank
    [packed, order] = RecvMsg(owner, 11);
    return
  end
  [packed, order] = factor(panel);
  others = bench.all(bench.all ~= owner);
  if ~isempty(others)
    SendMsg(others, 11, packed, order);
  end
end

% All factors, and the order of the rows of the matrix that they belong to.
function [a, rows] = factors(a, n, width, bench)
  columns = global_ind(a, 2);
  mine = local(a);
  rows = 1:n;
  for first = 1:width:n
    last = min(first + width - 1, n);
    inside = columns >= first & columns <= last;
    owner = mod((first - 1) / width, bench.ranks);
    [packed, order] = panel_of(owner, mine(first:n, inside), bench);
    rows(first:n) = rows(first - 1 + order);
    mine(first:n, :) = mine(first - 1 + order, :);
    if owner == bench.rank
      mine(first:n, inside) = packed;
    end
    right = columns > last;
    count = last - first + 1;
    lower = tril(packed(1:count, :), -1) + eye(count);
    mine(first:last, right) = lower \ mine(first:last, right);
    mine(last + 1:n, right) = mine(last + 1:n, right) - packed(count + 1:end, :) * mine(first:last, right);
  end
  a = put_local(a, mine);
end

function compare(whole, packed, rows, n)
  b = ones(n, 1);
  x = triu(packed) \ ((tril(packed, -1) + eye(n)) \ b(rows));
  residual = norm(whole * x - b, inf) / (eps * (norm(whole, inf) * norm(x, inf) + 1) * n);
  if ~(residual < 16)
    error('bench:contents', 'hpl: the residual is %g times what rounding explains', residual);
  end
end

addpath(fullfile(fileparts(fileparts(mfilename('fullpath'))), 'harness'));
bench = open_pmatlab(argv());
n = bench.size;
width = 32;
cyclic(1).dist = 'b';
cyclic(2).dist = 'bc';
cyclic(2).b_size = width;
a = rand(n, n, map([1 bench.ranks], cyclic, bench.all));
repetitions = 3;
rates = zeros(1, repetitions);
for i = 1:repetitions
  slowest(bench, 0);
  start = tic;
  [packed, rows] = factors(a, n, width, bench);
  rates(i) = 1e-9 * 2 / 3 * n ^ 3 / slowest(bench, toc(start));
end
whole = agg(a);
packed = agg(packed);
if bench.rank == 0
  compare(whole, packed, rows, n);
  print_record('hpl', bench.ranks, 8 * n * n, rates, 'GFLOP/s');
end
pMatlab_Finalize;
