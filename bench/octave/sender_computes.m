% How long a message takes whose sender computes at once, while its receiver waits: nobody helps the message along.
%
% Usage: postrider run -n 2 octave sender_computes.m FRONT BUDGET_MS SIZES
%
% Rank 0 sends and computes for BUDGET_MS without a call of the interface. The figure is the time on the clock that both share, from
% before the send to when rank 1 has the value.

1;

function compute(seconds)
  start = tic;
  x = 0.5;
  while toc(start) < seconds
    for i = 1:100
      x = 3.7 * x * (1 - x);
    end
  end
end

addpath(fullfile(fileparts(mfilename('fullpath')), 'harness'));
bench = open_bench(argv());
front = bench.front;
repetitions = 5;
for bytes = bench.sizes
  value = (1:bytes / 8)';
  times_s = zeros(1, repetitions);
  for i = 1:repetitions
    line_up(bench);
    if bench.rank == 0
      start = time;
      front.send(value, 1, 1, bench.comm);
      compute(bench.budget_s);
      times_s(i) = front.receive(0, 1, 2, bench.comm) - start;
    else
      received = front.receive(value, 0, 1, bench.comm);
      arrival = time;
      front.send(arrival, 0, 2, bench.comm);
    end
  end
  if bench.rank == 0
    print_record('sender-computes', 2, bytes, 1e6 * times_s, 'us');
  end
end
front.close();
