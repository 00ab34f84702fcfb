function [times_s, iterations] = measure(bench, batch)
% MEASURE Times something in batches, on rank 0, until the budget is used.
%
%   [times_s, iterations] = measure(bench, batch)
%
% batch(iterations) returns the seconds of so many iterations. Their number is doubled until a batch takes a tenth of the budget; then
% batches run until it is used, from three to fifteen. times_s has the seconds of one iteration in each batch. The C programs do the
% same (bench/src/measure.h). Something that takes longer than the whole budget runs three times.
  iterations = 1;
  first = batch(iterations);
  while min(first, batch(iterations)) < 0.1 * bench.budget_s
    iterations = 2 * iterations;
    first = batch(iterations);
  end
  times_s = zeros(1, 0);
  while numel(times_s) < 3 || (numel(times_s) < 15 && sum(times_s) * iterations < bench.budget_s)
    times_s(end + 1) = batch(iterations) / iterations;
  end
end
