% A function of each element, by all processes of a communicator: parcellfun and pararrayfun.
c = mpi.world;
numbers = num2cell(1:20);

% As cellfun and arrayfun, at every process.
assert(parcellfun(c, @(x) x ^ 2, numbers), (1:20) .^ 2);
assert(parcellfun(c, 'numel', {'a'; 'bcd'; ''}), [1; 3; 0]);
assert(parcellfun(c, @upper, {'a', 'bc'}, 'UniformOutput', false), {'A', 'BC'});
[largest, place] = parcellfun(c, @max, {[1 5 2], [7 1], 3});
assert({largest, place}, {[5 7 3], [2 1 1]});
assert(parcellfun(c, @plus, numbers, numbers), 2:2:40);
assert(pararrayfun(c, @(a, b) a * b, magic(4), int8(magic(4))), int8(magic(4) .^ 2));
assert(pararrayfun(c, @(letter) letter == 'a', 'banana'), 'banana' == 'a');
assert(pararrayfun(c, @(s) s.a, struct('a', {1, 2, 3})), 1:3);
assert(pararrayfun(c, @(x) {x}, [1 2], 'uniformoutput', 0), {{1}, {2}});
assert(isempty(parcellfun(c, @sin, {})));
assert(size(pararrayfun(c, @sin, zeros(0, 3))), [0 3]);
assert(parcellfun(c, @sin, cell(0, 2), 'UniformOutput', false), cell(0, 2));

% A function without results, and one whose result nobody asks for, which is still there.
parcellfun(c, @(x) assert(x > 0), numbers);
parcellfun(c, @(x) -x, {1, 2});

% In pieces of any size, and combined in the order of elements.
for chunks = [0 1 2 100]
  assert(pararrayfun(c, @(x) -x, 1:23, 'ChunksPerProc', chunks), -(1:23));
  assert(pararrayfun(c, @(x) char('a' + x), 0:9, 'CumFunc', @(a, b) [a, b], 'ChunksPerProc', chunks), 'abcdefghij');
  [total, all_of_them] = parcellfun(c, @(x) deal(x, {x}), numbers, 'CumFunc', @(s, l, x, y) deal(s + x, [l, y]), 'ChunksPerProc', chunks);
  assert(total, 210);
  assert(all_of_them, numbers);
end
assert(pararrayfun(c, @(x) x, 7, 'CumFunc', @plus), 7);
assert(isempty(pararrayfun(c, @(x) x, [], 'CumFunc', @plus)));

% A function of all elements of a piece at once, which gets them as a column.
for chunks = [1 3 100]
  assert(pararrayfun(c, @(x) x .^ 2, magic(4), 'Vectorized', true, 'ChunksPerProc', chunks), magic(4) .^ 2);
  assert(pararrayfun(c, @(x) sum(x), 1:100, 'Vectorized', true, 'ChunksPerProc', chunks, 'CumFunc', @plus), 5050);
end
[sums, products] = pararrayfun(c, @(x, y) deal(x + y, x .* y), 1:7, 7:-1:1, 'Vectorized', true, 'ChunksPerProc', 2);
assert({sums, products}, {8 * ones(1, 7), (1:7) .* (7:-1:1)});
assert(pararrayfun(c, @(s) 2 * [s.a], struct('a', {1, 2, 3}), 'Vectorized', true, 'ChunksPerProc', 1, 'UniformOutput', false), {2, 4, 6});
assert(isempty(pararrayfun(c, @(x) x, [], 'Vectorized', true, 'ChunksPerProc', 1)));
pararrayfun(c, @(x) assert(iscolumn(x)), 1:9, 'Vectorized', true, 'ChunksPerProc', 1);

% One element that takes as long as all others together keeps nobody: whoever has it, the others do the rest.
function y = last_of_all(k, n, folder)
  if k > 1
    fclose(fopen(fullfile(folder, num2str(k)), 'w'));
  else
    while numel(dir(folder)) < n - 1 + 2
      pause(0.001);
    end
  end
  y = k;
end
if c.size > 1
  folder = c.bcast(tempname());
  if c.rank == 0
    mkdir(folder);
  end
  c.barrier();
  assert(pararrayfun(c, @(k) last_of_all(k, 30, folder), 1:30), 1:30);
  c.barrier();
  if c.rank == 0
    confirm_recursive_rmdir(false, 'local');
    rmdir(folder, 's');
  end
end

% Errors: at every process, with the identifier, the message and the index; the next call is like the first.
function y = fails_at(x, bad)
  if any(x == bad)
    error('my:problem', 'cannot do 100%% of %d', x);
  end
  y = x;
end
function check_error(identifier, part, f, varargin)
  try
    f(varargin{:});
  catch problem
    assert(problem.identifier, identifier);
    assert(isempty(part) || ! isempty(strfind(problem.message, part)), '"%s" is not in "%s"', part, problem.message);
    return
  end
  error('there was no error with "%s"', part);
end
for bad = [1 7 20]
  check_error('my:problem', sprintf('cannot do 100%% of %d (element %d)', bad, bad), @parcellfun, c, @(x) fails_at(x, bad), numbers);
  check_error('my:problem', sprintf('(element %d)', bad), @pararrayfun, c, @(x) fails_at(x, bad), 1:20, 'ChunksPerProc', 1);
end
check_error('', 'plain (element', @parcellfun, c, @(x) error('plain'), numbers);
check_error('mpi:other', 'var1 is a mpi.Comm', @parcellfun, c, @(x) c, numbers, 'UniformOutput', false);
assert(parcellfun(c, @(x) {x}, {1, @sin}, 'UniformOutput', false), {{1}, {@sin}});
check_error('my:problem', '', @pararrayfun, c, @(x) x, 1:5, 'CumFunc', @(a, b) error('my:problem', 'no sum'));
assert(parcellfun(c, @(x) x, numbers), 1:20);

% An error handler is told what and where, and given the arguments.
function [y, z] = handler(problem, x, w)
  assert(problem.identifier, 'my:problem');
  assert(problem.message, sprintf('cannot do 100%% of %d', x));
  y = -problem.index;
  z = w;
end
function [y, z] = two(x, w, bad)
  y = fails_at(x, bad);
  z = 0;
end
[y, z] = parcellfun(c, @(x, w) two(x, w, [3 5]), num2cell(1:6), num2cell(11:16), 'ErrorHandler', @handler);
assert(y, [1 2 -3 4 -5 6]);
assert(z, [0 0 13 0 15 0]);
check_error('my:problem', '(element 3)', @pararrayfun, c, @(x) fails_at(x, 3), 1:5, 'ErrorHandler', @(e, x) error(e.identifier, 'again'));

assert(pararrayfun(c, @(x) error('no'), 1:6, 'Vectorized', true, 'ChunksPerProc', 2, 'ErrorHandler', @(e, x) -x), -(1:6));

% What cannot be asked for.
check_error('mpi:argument', 'as many elements as it gets', @pararrayfun, c, @sum, 1:9 * c.size, 'Vectorized', true, 'ChunksPerProc', 1);
check_error('mpi:argument', 'no option', @parcellfun, c, @sin, {1}, 'Vectorized', true);
check_error('mpi:argument', 'no option', @pararrayfun, c, @sin, [1 2], 'Vector', true);
check_error('mpi:argument', 'number of processes', @parcellfun, 0, @sin, {1});
check_error('mpi:argument', 'number of processes', @parcellfun, 'two', @sin, {1});
check_error('mpi:argument', 'needs a number', @parcellfun, c);
check_error('mpi:argument', 'nothing to call', @parcellfun, c, @sin);
check_error('mpi:argument', 'where a cell is needed', @parcellfun, c, @sin, [1 2]);
check_error('mpi:argument', 'no option', @parcellfun, c, @sin, {1}, 'Uniform', false);
check_error('mpi:argument', 'another size', @parcellfun, c, @plus, {1, 2}, {1; 2});
check_error('mpi:argument', 'function handle', @parcellfun, c, 3, {1});
check_error('mpi:argument', 'ErrorHandler', @parcellfun, c, @sin, {1}, 'ErrorHandler', 3);
check_error('mpi:argument', 'ChunksPerProc', @parcellfun, c, @sin, {1}, 'ChunksPerProc', 1.5);
check_error('mpi:argument', 'element 2 is no scalar', @parcellfun, c, @(x) x, {1, 'ab'});
check_error('mpi:argument', 'element 2 is a char', @parcellfun, c, @(x) x, {1, 'a'});
c.barrier();
