function seconds = slowest(bench, seconds)
% SLOWEST The largest of the ranks' times, on every rank; nobody returns before all have called it.
%
%   seconds = slowest(bench, seconds)
  times = put_local(zeros(1, bench.ranks, map([1 bench.ranks], {}, bench.all)), seconds);
  seconds = max(agg_all(times));
end
