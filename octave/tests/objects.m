% Function handles, containers.Map and objects of old classes are received as they were sent; code only by who allows it.
addpath(fileparts(mfilename('fullpath')));
c = mpi.world;
right = mod(c.rank + 1, c.size);
left = mod(c.rank - 1, c.size);
function value = around(c, value, right, left)
  c.send(value, right, 3);
  value = c.recv(left, 3);
end
function refused(part, f, varargin)
  try
    f(varargin{:});
  catch problem
    assert(! isempty(strfind(problem.message, part)), '"%s" is not in "%s"', part, problem.message);
    return
  end
  error('there was no error with "%s"', part);
end

f = around(c, @sin, right, left);
assert(func2str(f), func2str(@sin));
assert(f(1), sin(1));
assert(around(c, {1, struct('f', @plus)}, right, left){2}.f(1, 2), 3);
assert(around(c, @mpi.block, right, left), @mpi.block);

map = around(c, containers.Map({'one', 'list'}, {1, {2, rand(300) > 2}}), right, left);
assert(map.keys(), {'list', 'one'});
assert(map('list'), {2, false(300)});
numbers = around(c, containers.Map('KeyType', 'int32', 'ValueType', 'double'), right, left);
assert(double(numbers.Count), 0);
assert(numbers.KeyType, 'int32');
numbers = around(c, containers.Map([3 1 2], {'c', 'a', 'b'}), right, left);
assert(numbers.values(), {'a', 'b', 'c'});
assert(class(numbers.keys(){1}), 'double');
nested = around(c, containers.Map('m', containers.Map('f', @cos)), right, left);
assert(nested('m')('f')(0), 1);

object = around(c, old_object(1, 'two', c.rank), right, left);
assert(class(object), 'old_object');
assert(values(object), {1, 'two', left});

% Collectives, too.
assert(c.bcast(@max, 0)([3 7]), 7);
all_of_them = c.allgather(containers.Map('rank', c.rank));
assert(cellfun(@(m) m('rank'), all_of_them), 0:c.size-1);

% Anonymous functions: not unless they are asked for; the next message is not disturbed.
a = c.rank;
g = @(x) x + a;
refused('@(x) x + a', @around, c, {rand(200), g, rand(200)}, right, left);
refused('mpi.allowFunctions', @around, c, @() 1, right, left);
assert(around(c, 'next', right, left), 'next');
assert(! mpi.allowFunctions());
assert(mpi.allowFunctions(true));
h = around(c, @(x) g(x) * a, right, left);
assert(h(5), (5 + left) * left);
assert(around(c, @() 7, right, left)(), 7);
postrider_made = 3;
assert(around(c, @(y) y * postrider_made, right, left)(2), 6);
mpi.allowFunctions(false);

% What somebody could make up.
function check_wrong(name, contents)
  [value, wrong] = postrider.put_together(name, contents);
  assert(isempty(value));
  assert(! isempty(wrong));
end
check_wrong('function_handle', struct('text', '@() 1'));
check_wrong('function_handle', struct('text', 'sin; x'));
check_wrong('function_handle', 3);
check_wrong('containers.Map', struct('keys', {{1}}));
check_wrong('exit', struct());
check_wrong('no_such_class', struct());
check_wrong('mpi.Group', struct());
check_wrong('disp(1)', struct());
check_wrong(3, struct());
check_wrong('old_object', struct('no_such_field', 1));
c.barrier();
