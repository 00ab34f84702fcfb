% Workers that a session starts: mpi.pool, and parcellfun with a number.
addpath(fileparts(mfilename('fullpath')));
p = mpi.pool(3);
assert(p.size, 3);
assert(strtrim(evalc('disp(p)')), 'mpi.pool: 3 workers');

% Arrays give arrays, cells give cells; with everything that an anonymous function has captured.
a = 3;
double_of = @(x) 2 * x;
assert(p.map(@(x) double_of(x) ^ a, 1:10), (2 * (1:10)) .^ 3);
assert(p.map(@upper, {'a', 'b'; 'c', 'd'}), {'A', 'B'; 'C', 'D'});
assert(p.map('numel', {'a', 'bc'}, 'UniformOutput', true), [1 2]);
[largest, place] = p.map(@max, {[1 5 2], [7 1]});
assert({largest, place}, {{5, 7}, {2, 1}});
assert(p.map(@plus, magic(4), 1 ./ magic(4)), magic(4) + 1 ./ magic(4));
assert(p.map(@(x) {x}, [1 2], 'UniformOutput', false), {{1}, {2}});
assert(p.map(@(x) x, 1:9, 'ChunksPerProc', 2, 'CumFunc', @(x, y) [x, y]), 1:9);
assert(p.map(@(x) x .^ 2, 1:9, 'ChunksPerProc', 2, 'Vectorized', true), (1:9) .^ 2);
assert(isempty(p.map(@sin, [])));
assert(p.map(@(x) sum(x(:)), {ones(500), sparse(2), int8([1 2])}), {250000, sparse(2), 3});
p.map(@(x) assert(x > 0), 1:4);

% The workers are processes of their own, all of which work, in the session's folder and with its path.
folder = tempname();
mkdir(folder);
processes = p.map(@pool_worker, {folder, folder, folder}, {3, 3, 3});
assert(numel(unique([processes{:}])), 3);
assert(! any([processes{:}] == getpid()));
assert(p.map(@(x) pwd(), {1}), {pwd()});

% An error ends the call and not the pool, also when others still compute.
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
check_error('my:problem', 'bad 4 (element 1)', @() p.map(@(x) error('my:problem', 'bad %d', x), 4));
check_error('my:problem', 'late (element 2)', @() p.map(@pool_worker, {'wait', 'fail', 'wait'}));
assert(p.map(@(x) x + 1, 1:30), 2:31);
check_error('Octave:undefined-function', 'no_such_function', @() p.map(@(x) no_such_function(x), 1));
check_error('mpi:other', 'mpi.Comm', @() p.map(@(x) x, {1, mpi.self}));
check_error('mpi:other', 'mpi.Comm', @() p.map(@(x) {mpi.self()}, {1}));

% Functions travel wherever they are, to the workers; from them only named ones, unless this session allows others.
functions_inside = struct('list', {{@(x) x + a, @sqrt}});
assert(p.map(@(x) functions_inside.list{1}(functions_inside.list{2}(x)), [4 9]), [5 6]);
assert(p.map(@(f) f(2), {@(x) x * a, @sqrt}), {6, sqrt(2)});
assert(p.map(@(x) @sin, {1}), {@sin});
check_error('mpi:other', 'mpi.allowFunctions(true) allows other processes to send code to this one (element', @() p.map(@(x) @(y) x + y, {1, 2}));
mpi.allowFunctions(true);
sums = p.map(@(x) @(y) x + y, {1, 2});
mpi.allowFunctions(false);
assert([sums{1}(10), sums{2}(10)], [11 12]);
map = containers.Map({'a', 'b'}, {1, 'two'});
assert(p.map(@(key) map(key), {'a', 'b'}), {1, 'two'});
assert(p.map(@(x) x, 1:3, 'ErrorHandler', @(e, x) e.index), 1:3);
assert(p.map(@(x) error('no'), 5:7, 'ErrorHandler', @(e, x) e.index), 1:3);

% A worker that dies is named, and the others go on.
check_error('mpi:worker', sprintf('(process %d on host', processes{2}), ...
            @() p.map(@(x) pool_worker('die', x), repmat(processes(2), 1, 20)));
assert(p.size, 2);
assert(p.map(@(x) -x, 1:10), -(1:10));
p.close();
assert(p.size, 0);
check_error('mpi:worker', 'no workers left', @() p.map(@sin, 1));
p.close();

% parcellfun and pararrayfun keep their workers for the same number, and start others for another one.
first = pararrayfun(2, @(x) getpid(), 1:2, 'ChunksPerProc', 1);
assert(all(ismember(pararrayfun(2, @(x) getpid(), 1:20), first)));
assert(parcellfun(2, @(x) x ^ a, num2cell(1:5)), (1:5) .^ 3);
check_error('my:problem', '(element 1)', @() parcellfun(2, @(x) error('my:problem', 'x'), {1}));
assert(pararrayfun(1, @(x) x, 1:5), 1:5);
for process = unique(first)
  while exist(sprintf('/proc/%d', process), 'dir')
    pause(0.001);
  end
end

% What cannot be.
check_error('mpi:argument', 'whole number', @() mpi.pool(0));
check_error('mpi:argument', 'whole number', @() mpi.pool('a'));
check_error('mpi:spawn', '', @() mpi.pool(2, struct('host', 'no-such-host')));
confirm_recursive_rmdir(false, 'local');
rmdir(folder, 's');

% These end with the session; one of them is at something that does not end.
p = mpi.pool(2);
check_error('my:problem', '', @() p.map(@pool_worker, {'fail', 'hang'}));
