% Reductions of values: each operation on each class, against the language's own function applied in the order of ranks.
function native_reductions(c)
  names = {"+", "sum", "plus", "*", "prod", "times", "max", "min", "&", "and", "all", "|", "or", "any", "xor", "bitand", "bitor", "bitxor"};
  functions = {@plus, @plus, @plus, @times, @times, @times, @max, @min, @and, @and, @and, @or, @or, @or, @xor, @bitand, @bitor, @bitxor};
  kinds = samples(c.size);
  for k = 1:numel(kinds)
    all = kinds{k};
    mine = all{c.rank + 1};
    for j = 1:numel(names)
      [expected, possible] = folded(functions{j}, all);
      if possible
        compare(c, mine, names{j}, functions{j}, all, expected);
      elseif c.size > 1
        fails(@() c.allreduce(mine, names{j}));
      end
    end
  end
  own_operations(c);
  locations(c);
  different(c);
end

% For each rank a value: saturating integers, NaN, logical, char, complex, sparse, empty.
function kinds = samples(n)
  each = @(f) arrayfun(f, 0:n - 1, "UniformOutput", false);
  kinds = {each(@(r) [r + 1, 2 - r, 3; 4, 5, 6 * r]), each(@(r) single([r, 1.5, -2])), each(@(r) mod(r, 3)), ...
           each(@(r) [NaN(1, mod(r, 2)), r * ones(1, 1 - mod(r, 2)), r, Inf, -r]), ...
           each(@(r) [r + 1i, complex(2, 0)]), each(@(r) single(complex(r, 1))), ...
           each(@(r) logical([mod(r, 2), 1, 0])), each(@(r) char("a" + r)), each(@(r) ["ab"; "cd"] + 0 * r), ...
           each(@(r) sparse([r 0; 0 1])), each(@(r) zeros(0, 3)), each(@(r) complex([r 2], 0)), each(@(r) {r})};
  for name = {"int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64"}
    low = intmin(name{1});
    high = intmax(name{1});
    kinds{end + 1} = each(@(r) [high, low, cast(r, name{1}), high - cast(r, name{1}), low + cast(r, name{1})]);
    kinds{end + 1} = each(@(r) cast(7 * (r + 1), name{1}));
  end
end

function [value, possible] = folded(f, values)
  value = values{1};
  possible = true;
  try
    for k = 2:numel(values)
      value = f(value, values{k});
    end
    if numel(values) == 1
      % Nothing is computed, so that it has to be possible in any case.
      f(value, value);
    end
  catch
    possible = false;
  end
end

function compare(c, mine, name, f, all, expected)
  where = sprintf("%s of %s", name, class(mine));
  root = c.size - 1;
  same(c.allreduce(mine, name), expected, where);
  got = c.reduce(mine, name, root);
  if c.rank == root
    same(got, expected, where);
  else
    assert(isempty(got));
  end
  same(c.scan(mine, name), folded(f, all(1:c.rank + 1)), where);
  got = c.exscan(mine, name);
  if c.rank > 0
    same(got, folded(f, all(1:c.rank)), where);
  else
    assert(isempty(got));
  end
end

function same(got, expected, where)
  if ! strcmp(class(got), class(expected)) || ! isequal(size(got), size(expected)) || ...
     ! isequaln(full(got), full(expected)) || issparse(got) != issparse(expected)
    error("%s gave %s %s where %s %s was expected", where, class(got), disp(got), class(expected), disp(expected));
  end
end

function fails(action)
  caught = false;
  try
    action();
  catch
    caught = true;
  end
  assert(caught);
end

function own_operations(c)
  n = c.size;
  ranks = 0:n - 1;
  assert(c.allreduce(sprintf("%d", c.rank), @(a, b) [a, b]), sprintf("%d", ranks));
  assert(c.scan(sprintf("%d", c.rank), @(a, b) [a, b]), sprintf("%d", 0:c.rank));
  assert(c.allreduce({c.rank}, @(a, b) [a, b]), num2cell(ranks));
  assert(c.allreduce(eye(2) * 2, @mtimes), eye(2) * 2 ^ n);
  assert(c.allreduce(c.rank), sum(ranks));
  assert(c.allreduce(c.rank, []), sum(ranks));
  assert(c.allreduce(c.rank, mpi.Op("max")), n - 1);
  fails(@() c.allreduce(1, 5));
  fails(@() c.allreduce());
  expect_error("mpi:rank", @() c.reduce({1}, "+", n));
end

function locations(c)
  n = c.size;
  values = [3 1 4 1 5 9 2](1:n);
  [largest, at] = max(values);
  assert(c.allreduce({values(c.rank + 1), c.rank}, "maxloc"), {largest, at - 1});
  [smallest, at] = min(values);
  assert(c.allreduce({values(c.rank + 1), c.rank}, mpi.Op("minloc")), {smallest, at - 1});
  got = c.allreduce({[values(c.rank + 1), -c.rank], c.rank}, "maxloc");
  assert(got{1}, [largest, 0]);
  assert(n == 1 || got{2}(2) == 0);
end

% Processes whose values have not one class and size: what the language makes of them, and its errors at all of them.
function different(c)
  n = c.size;
  if n == 1
    return
  end
  mixed = {1, complex(1, 1), sparse(2), single(3), int8(4), true, "a"};
  usable = mixed([1, 2, 4]);
  mine = usable{mod(c.rank, 3) + 1};
  expected = usable{1};
  for r = 1:n - 1
    expected = expected + usable{mod(r, 3) + 1};
  end
  same(c.allreduce(mine, "+"), expected, "+ of different classes");
  same(c.allreduce(ones(1, 1 + 2 * (c.rank > 0)), "+"), n * ones(1, 3), "+ of different sizes");
  fails(@() c.allreduce(ones(1, 2 + c.rank), "+"));
  shown = c.allreduce(sparse(eye(2)) * (c.rank + 1), "+");
  assert(issparse(shown) && full(shown(1)) == sum(1:n));
  half = {full(eye(2)), sparse(eye(2))};
  same(full(c.allreduce(half{1 + mod(c.rank, 2)}, "+")), n * eye(2), "+ of full and sparse");
end
