function times_s = measure(bench, batch)
% MEASURE Times something in batches, on rank 0, until the budget is used.
%
%   times_s = measure(bench, batch)
%
% batch(iterations) returns the seconds of so many iterations. Their number is doubled until two batches take a tenth of the budget, or
% one all of it; then batches run until it is used, from three to fifteen. times_s has the seconds of one iteration in each batch. The C
% programs do the same (bench/src/measure.h).
  iterations = 1;
  batches = zeros(1, 0);
  while isempty(batches)
    first = batch(iterations);
    if first >= bench.budget_s
      batches = first;
    else
      both = [first, batch(iterations)];
      if min(both) >= 0.1 * bench.budget_s
        batches = both;
      else
        iterations = 2 * iterations;
      end
    end
  end
  while numel(batches) < 3 || (numel(batches) < 15 && sum(batches) < bench.budget_s)
    batches(end + 1) = batch(iterations);
  end
  times_s = batches / iterations;
end
