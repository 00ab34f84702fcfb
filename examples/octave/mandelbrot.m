% mandelbrot.m: the Mandelbrot set, columns farmed out in blocks.
%
%   postrider run -n 4 octave examples/octave/mandelbrot.m [options]
%     --size N         points on a side (4800)
%     --iterations N   iteration limit (64, at most 255)
%     --output FILE    rank 0 writes the counts there: N*N bytes, column by column
%
% The benchmark of section 4.5 of "MPI over Scripting Languages: Usability and
% Performance Tradeoffs".  The region is [-2, 0.5] x [-1.25, 1.25].  A count is the
% number of iterations before |z| exceeds 2, or the limit.  Rank r computes the
% columns r+1, r+1+ranks, ... block by block and sends each block to rank 0 as soon
% as it is done, so that nobody waits before the end.  The C and Python versions
% use the same operations in the same order and give the same counts bit by bit.
1;

function value = option(name, default)
  words = argv();
  at = find(strcmp(words, name), 1);
  if isempty(at) || at == numel(words)
    value = default;
  else
    value = words{at + 1};
  end
end

% Counts of the columns of a block.  Points that have escaped are dropped from the
% work arrays, but only when a quarter of them has: compacting costs a pass too.
function counts = block_counts(columns, points, limit)
  step = 2.5 / points;
  cr = repmat(-2.0 + (columns - 0.5) * step, points, 1)(:);
  ci = repmat((-1.25 + ((1:points)' - 0.5) * step), numel(columns), 1);
  counts = zeros(numel(cr), 1, "uint8");
  alive = (1:numel(cr))';
  zr = zeros(size(cr));
  zi = zr;
  n = zr;
  for iteration = 1:limit
    zr2 = zr .* zr;
    zi2 = zi .* zi;
    inside = zr2 + zi2 <= 4;
    n += inside;
    left = nnz(inside);
    if left == 0
      break
    end
    if left < 0.75 * numel(inside)
      gone = ! inside;
      counts(alive(gone)) = n(gone);
      alive = alive(inside);
      zr2 = zr2(inside);
      zi2 = zi2(inside);
      zr = zr(inside);
      zi = zi(inside);
      cr = cr(inside);
      ci = ci(inside);
      n = n(inside);
    end
    zi = 2 * zr .* zi + ci;
    zr = zr2 - zi2 + cr;
  end
  counts(alive) = n;
  counts = reshape(counts, points, numel(columns));
end

MPI_Init;
comm = MPI_COMM_WORLD;
rank = MPI_Comm_rank(comm);
ranks = MPI_Comm_size(comm);
points = str2double(option("--size", "4800"));
limit = str2double(option("--iterations", "64"));
output = option("--output", "");
if ! (points >= 1 && points == fix(points) && limit >= 1 && limit <= 255 && limit == fix(limit))
  error("mandelbrot: --size must be a positive integer, --iterations one from 1 to 255");
end

% Blocks are what is sent; they are computed a few columns at a time, so that the
% work arrays stay in the cache.
block_columns = 48;
chunk_columns = max(1, floor(16384 / points));
blocks = ceil(points / block_columns);
shows_progress = rank == 0 && system("test -t 2") == 0;
started = tic;
if rank == 0
  picture = zeros(points, points, "uint8");
end
for block = rank:ranks:(blocks - 1)
  first = block * block_columns + 1;
  last = min(first + block_columns - 1, points);
  counts = zeros(points, last - first + 1, "uint8");
  for column = first:chunk_columns:last
    columns = column:min(column + chunk_columns - 1, last);
    counts(:, columns - first + 1) = block_counts(columns, points, limit);
  end
  if rank == 0
    picture(:, first:last) = counts;
    if shows_progress
      fprintf(stderr, "\rmandelbrot: %3d %%", round(100 * last / points));
    end
  else
    MPI_Send(0, block, comm, counts);
  end
end

if rank == 0
  for block = 0:(blocks - 1)
    source = mod(block, ranks);
    if source != 0
      first = block * block_columns + 1;
      last = min(first + block_columns - 1, points);
      picture(:, first:last) = MPI_Recv(source, block, comm);
    end
  end
  seconds = toc(started);
  if shows_progress
    fprintf(stderr, "\n");
  end
  % The sum of all counts, each weighted with its place modulo 65521, plus one.
  checksum = 0;
  for column = 1:points
    weights = mod((column - 1) * points + (0:points - 1)', 65521) + 1;
    checksum += sum(weights .* double(picture(:, column)));
  end
  if ! isempty(output)
    file = fopen(output, "w");
    if file < 0
      error("mandelbrot: cannot write %s", output);
    end
    fwrite(file, picture, "uint8");
    fclose(file);
  end
  printf("{\"ranks\": %d, \"seconds\": %.6f, \"checksum\": %.0f, \"size\": %d, \"iterations\": %d}\n", ...
         ranks, seconds, checksum, points, limit);
end
MPI_Finalize;
