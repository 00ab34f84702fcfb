% One-way time of a cell with many short strings, and what Octave itself needs to save and load it.
%
% Usage: postrider run -n 2 octave strings.m FRONT BUDGET_MS COUNT
%        octave strings.m save BUDGET_MS COUNT
%
% COUNT strings are in the cell; the size in the results is that of their characters. The file of the second way is in TMPDIR.

1;

function value = strings_of(count)
  value = arrayfun(@(i) sprintf('string %d', i), 1:count, 'UniformOutput', false)';
end

function seconds = batch(bench, value, iterations)
  bench.front.send(iterations, 1, 0, bench.comm);
  start = tic;
  bench.front.round_trips(value, iterations, 1, bench.comm);
  seconds = toc(start);
end

function seconds = save_only(path, value, iterations)
  start = tic;
  for i = 1:iterations
    save('-binary', path, 'value');
  end
  seconds = toc(start);
end

function seconds = save_and_load(path, value, iterations)
  start = tic;
  for i = 1:iterations
    save('-binary', path, 'value');
    value = load(path).value;
  end
  seconds = toc(start);
end

function files(budget_ms, count)
  bench.budget_s = 1e-3 * str2double(budget_ms);
  value = strings_of(count);
  path = tempname;
  saved = measure(bench, @(iterations) save_only(path, value, iterations));
  print_record('strings-save', 1, numel([value{:}]), 1e3 * saved, 'ms');
  loaded = measure(bench, @(iterations) save_and_load(path, value, iterations));
  print_record('strings-save-load', 1, numel([value{:}]), 1e3 * loaded, 'ms');
  delete(path);
end

function messages(words)
  bench = open_bench(words);
  front = bench.front;
  value = strings_of(bench.sizes(1));
  if bench.rank == 0
    times_s = measure(bench, @(iterations) batch(bench, value, iterations));
    front.send(0, 1, 0, bench.comm);
    print_record('strings', 2, numel([value{:}]), 5e2 * times_s, 'ms');
  else
    iterations = front.receive(0, 0, 0, bench.comm);
    while iterations > 0
      front.answers(value, iterations, 0, bench.comm);
      iterations = front.receive(0, 0, 0, bench.comm);
    end
  end
  front.close();
end

addpath(fullfile(fileparts(mfilename('fullpath')), 'harness'));
words = argv();
if strcmp(words{1}, 'save')
  files(words{2}, str2double(words{3}));
else
  messages(words);
end
