% Distributed arrays: constructors, what each rank knows of them, operators, functions,
% collectives and messages, against plain arrays.
1;

function d = distributed(whole, m)
  sizes = size(whole);
  sizes(end + 1:m.dim) = 1;
  d = put_local(zeros(sizes, m), local(remap(whole, m)));
end

% Every rank compares its part, so that nothing is sent; the parts together are the whole, which
% the test of redistribution checks.
function near(d, whole)
  assert(isa(d, 'dmat') && isequal(size(d), size(whole)));
  if inmap(d.map, Pid)
    index = cell(1, ndims(d));
    [index{:}] = global_ind(d);
    wanted = whole(index{:});
    got = local(d);
    assert(isequal(size(got), size(wanted)));
    assert(max([0; abs(double(got(:)) - double(wanted(:)))]) <= 1e-10 * max([1; abs(double(whole(:)))]));
  end
end

function fails(identifier, f)
  got = 'nothing';
  try
    f();
  catch problem
    got = problem.identifier;
  end
  assert(got, identifier);
end

function assign_out_of_range(A)
  A(1, 99) = 4;
end

function assign_other_size(A, B)
  A(:, :) = B;
end

% Each map in turn: rows, columns, both, dealt out, some ranks only, overlap.
function maps = many_maps()
  all_ranks = 0:Np - 1;
  maps = {map([Np 1], {}, all_ranks), map([1 Np], {}, fliplr(all_ranks)), map([1 Np], 'c', all_ranks), ...
    map([Np 1], struct('dist', 'bc', 'b_size', 2), all_ranks), map([1 1], {}, Np - 1), ...
    map([1 Np], {}, all_ranks, [0 1])};
  if mod(Np, 2) == 0
    maps{end + 1} = map([2 Np / 2], struct('dist', {'b', 'c'}), all_ranks);
  end
  if Np > 3
    maps = maps([2 4 6:end]);
  end
end

function constructors()
  m = map([1 Np], {}, 0:Np - 1);
  near(zeros(3, 8, m), zeros(3, 8));
  near(zeros([3 8], m), zeros(3, 8));
  near(zeros(5, m), zeros(5));
  near(ones(3, 8, m, 'int8'), ones(3, 8, 'int8'));
  assert(class(local(ones(3, 8, m, 'int8'))), 'int8');
  near(eye(4, 6, m), eye(4, 6));
  R = agg_all(rand(4, 50, m));
  assert(all(R(:) >= 0 & R(:) < 1) && numel(unique(R)) > 190);
  assert(isequal(size(agg_all(randn(4, 50, m))), [4 50]));
  assert(class(local(rand(4, 50, m, 'single'))), 'single');
  assert(isequal(agg_all(cell(2, 3, m)), cell(2, 3)));
  near(zeros(2, 3, 4, 5, 2, map([1 1 1 1 Np], 'c', 0:Np - 1)), zeros(2, 3, 4, 5, 2));
  near(zeros(7, map(Np, {}, 0:Np - 1)), zeros(7, 1));
  S = agg_all(sparse(5, 6, m));
  assert(issparse(S) && isequal(size(S), [5 6]) && nnz(S) == 0);
  S = spalloc(5, 6, 10, m);
  assert(issparse(local(S)) && isequal(size(S), [5 6]));
  S(2, 3) = 4;
  assert(isequal(agg_all(S), sparse(2, 3, 4, 5, 6)) && issparse(agg_all(S)));
  [i, j, v] = find(sparse([1 0 2; 0 3 0; 4 0 5]));
  assert(isequal(agg_all(sparse(i, j, v, m)), sparse(i, j, v)));
  assert(isequal(agg_all(sparse([i; 1], [j; 1], [v; 9], 5, 6, m)), sparse([i; 1], [j; 1], [v; 9], 5, 6)));
  assert(isequal(agg_all(sparse([], [], [], 5, 6, 10, m)), sparse(5, 6)));
  near(full(sparse(distributed(magic(4), m))), magic(4));
  assert(isequal(zeros(3, 1), agg_all(zeros(3, 1, 1))));
end

function maps_themselves()
  m = map([2 3], struct('dist', {'b', 'bc'}, 'b_size', {[], 2}), [5 4 3 2 1 0]);
  assert(m.dim == 2 && isequal(m.grid, [5 3 1; 4 2 0]) && isequal(m.proc_list, [5 4 3 2 1 0]));
  assert(m.dist_spec(2).dist, 'bc');
  assert(isempty(m.overlap) && inmap(m, 3) && ~inmap(m, 6));
  t = m.';
  assert(isequal(t.grid, m.grid') && strcmp(t.dist_spec(1).dist, 'bc'));
  assert(m == map(m) && m == map(struct('dim', 2, 'proc_list', m.proc_list, 'dist_spec', m.dist_spec, ...
    'grid', m.grid, 'overlap', [])));
  assert(m ~= t && ~(m == t));
  assert(map([2 1], 'c', 0:1).dist_spec(2).dist, 'c');
  m.proc_list = 0:5;
  assert(isequal(m.proc_list, 0:5));
  fails('pMatlab:map', @() map([2 2], {}, 0:2));
  fails('pMatlab:map', @() map([2 1], {}, [1 1]));
  fails('pMatlab:map', @() map([2 1], {}, [-1 1]));
  fails('pMatlab:map', @() map([2 1], 'x', 0:1));
  fails('pMatlab:map', @() map([2 1], struct('dist', 'bc'), 0:1));
  fails('pMatlab:map', @() map([2 1], {}, 0:1, 1));
  fails('pMatlab:map', @() map([2 1], 'c', 0:1, [1 0]));
  fails('pMatlab:map', @() map([2 1], {}));
end

function knowledge()
  m = map([1 Np], {}, 0:Np - 1);
  D = zeros(4, 3 * Np, m);
  mine = 3 * Pid + (1:3);
  assert(isequal(global_ind(D, 2), mine) && isequal(global_ind(D, 1), 1:4));
  [i, j] = global_ind(D);
  assert(isequal(i, 1:4) && isequal(j, mine));
  assert(isequal(global_block_range(D, 2), mine([1 3])) && isequal(global_range(D, 2), mine([1 3])));
  starts = 3 * (0:Np - 1)';
  assert(isequal(global_block_ranges(D, 2), [(0:Np - 1)', starts + 1, starts + 3]));
  assert(isequal(global_ranges(D, 2), global_block_ranges(D, 2)));
  assert(isequal(global_inds(D, 2), [(0:Np - 1)', starts + 1, starts + 2, starts + 3]));
  assert(isequal(D.size, [4 3 * Np]) && D.dim == 2 && isequal(D.local, zeros(4, 3)) && D.map == m);
  assert(isequal(D.global_ind, {1:4, mine}) && isequal(grid(D), 0:Np - 1));
  p = pitfalls(D);
  assert(isequal([p.l p.r; p.n p.p], [1 1 4 3; 1 1 1 Np]) && D.falls(2).l == mine(1));
  assert(isequal(mapGridRank(D), [ones(Np, 1), (1:Np)']));
  [a, b] = size(D);
  assert(isequal([a b size(D, 2) numel(D) ndims(D) length(D)], [4 3 * Np 3 * Np 12 * Np 2 max(4, 3 * Np)]));
  assert(~isempty(D) && isempty(zeros(0, 3, m)));
  C = zeros(1, 2 * Np + 1, map([1 Np], 'c', 0:Np - 1));
  assert(isequal(global_ind(C, 2), Pid + 1:Np:2 * Np + 1));
  r = global_ranges(C, 2);
  assert(size(r, 1) == Np && (Np == 1 || isequal(r(1, :), [0 reshape([1; 1] * (1:Np:2 * Np + 1), 1, [])])));
  few = zeros(1, 1, m);
  assert(isequal(global_block_ranges(few, 2), [(0:Np - 1)', [1; 2 * ones(Np - 1, 1)], ones(Np, 1)]));
  assert(isempty(global_block_range(few, 2)) == (Pid > 0));
  few = put_local(zeros(2, 3 * Np, m), 7);
  assert(isequal(agg(few), 7 * ones(2, 3 * Np)) == (Pid == 0 && Np > 1));
  assert(isequal(agg_all(remap(few, map([Np 1], {}, 0:Np - 1))), 7 * ones(2, 3 * Np)));
  row = put_local(zeros(1, 2 * Np, m), 2 * Pid + [1; 2]);
  assert(isequal(reshape(agg_all(row), 1, []), 1:2 * Np));
  f = zeros(1, 5, map([1 1], 'c', Np - 1)).falls;
  assert(~isstruct(f) || isequal({f(2).local_len f(2).n f(2).complete_cycle f(2).complete_block}, {5 5 true true}));
  parts = cell(1, Np);
  D = distributed(magic(4), map([1 Np], 'c', 0:Np - 1));
  for rank = 0:Np - 1
    parts{rank + 1} = multicast(rank, setdiff(0:Np - 1, rank), local(D));
  end
  assert(isequal(reconstruct(pitfalls(D), grid(D), parts, size(D)), magic(4)));
end

% The functions that a program calls with and without maps.
function plain_arrays()
  x = magic(4);
  for f = {@local, @agg, @oagg, @agg_all, @g_mat, @synch, @synch2, @transpose_grid}
    assert(isequal(f{1}(x), x));
  end
  assert(isequal(binfun(@max, x, 5), max(x, 5)));
  assert(isequal(put_local(x, 5), 5) && isequal(remap(x, 1), x));
  assert(isequal(global_ind(x, 2), 1:4) && isequal(global_inds(x, 1), 1:4));
  assert(isequal(global_range(x, 2), [1 4]) && isequal(global_ranges(x, 2), [1 4]));
  assert(isequal(global_block_range(x, 2), [1 4]) && isequal(global_block_ranges(x, 2), [0 1 4]));
  [i, j] = global_ind(ones(2, 3));
  assert(isequal(i, 1:2) && isequal(j, 1:3));
end

function indices()
  x = reshape(1:42, 6, 7);
  for each = many_maps()
    A = distributed(x, each{1});
    near(A(:, :), x);
    near(A(2, :), x(2, :));
    near(A(:, 3), x(:, 3));
    near(A(5, 6), x(5, 6));
    near(A(end, end - 1), x(end, end - 1));
    near(A([5 2], [7 1 3]), x([5 2], [7 1 3]));
    near(A(2:4, :), x(2:4, :));
    near(A(4, 2:5), x(4, 2:5));
    near(A(logical([1 0 1 0 0 1]), 1:2), x([1 3 6], 1:2));
    B = A;
    B(3, 4) = -1;
    y = x;
    y(3, 4) = -1;
    near(B, y);
    near(A, x);
    B(2, :) = A(5, :);
    y(2, :) = x(5, :);
    near(B, y);
    B(:, [1 3]) = A(:, [2 7]);
    y(:, [1 3]) = x(:, [2 7]);
    near(B, y);
    B.local = local(A);
    near(B, x);
    C = A(2:4, 1:3) + A(1:3, 1:3);
    near(C, x(2:4, 1:3) + x(1:3, 1:3));
  end
  V = distributed(10:10:90, map([1 Np], 'c', 0:Np - 1));
  near(V(4), 40);
  near(V(2:3), [20 30]);
  V(end) = 5;
  near(V, [10:10:80 5]);
  % The index 58 is not the character ':', although isequal says so.
  long = 1:60;
  V = distributed(long, map([1 Np], {}, 0:Np - 1));
  near(V(58), 58);
  V(1, 58) = -1;
  long(58) = -1;
  near(V, long);
  x = reshape(1:60, 3, 4, 5);
  A = distributed(x, map([1 Np 1], {}, 0:Np - 1));
  near(A(2, :, 3), x(2, :, 3));
  near(A(:, 2, :), x(:, 2, :));
  A(:, 2, :) = A(:, 3, :);
  x(:, 2, :) = x(:, 3, :);
  near(A, x);
  A(2, 3, :) = distributed(7:11, map([1 Np], {}, 0:Np - 1));
  x(2, 3, :) = 7:11;
  near(A, x);
  fails('pMatlab:index', @() A(1, 2));
  fails('pMatlab:index', @() A(1, 99, 1));
  fails('pMatlab:index', @() A{1});
  fails('pMatlab:field', @() A.colour);
  B = zeros(3, 4, map([1 Np], {}, 0:Np - 1));
  fails('pMatlab:index', @() assign_out_of_range(B));
  fails('pMatlab:size', @() assign_other_size(B, zeros(4, 3, map([1 Np], {}, 0:Np - 1))));
  fails('pMatlab:class', @() assign_other_size(cell(3, 4, B.map), B));
  if Pid == 0
    fails('pMatlab:size', @() assign_other_size(B, ones(5, 5)));
  end
end

function operators()
  x = reshape(1:24, 4, 6) / 10;
  y = magic(6)(1:4, :) / 7;
  maps = many_maps();
  for k = 1:numel(maps)
    A = distributed(x, maps{k});
    B = distributed(y, maps{k});
    C = distributed(y, maps{mod(k, numel(maps)) + 1});
    for f = {@plus, @minus, @times, @rdivide, @ldivide, @power, @realpow, @eq, @ne, @lt, @le, @gt, @ge, @and, ...
        @or, @complex}
      near(f{1}(A, B), f{1}(x, y));
      near(f{1}(A, C), f{1}(x, y));
      near(f{1}(A, y), f{1}(x, y));
      near(f{1}(x, B), f{1}(x, y));
      near(f{1}(A, 2), f{1}(x, 2));
      near(f{1}(2, A), f{1}(2, x));
    end
    near(A + (1:6), x + (1:6));
    near((1:4)' .* A, (1:4)' .* x);
    near(A * 3, x * 3);
    near(A / 4, x / 4);
    near(4 \ A, 4 \ x);
    near(-A, -x);
    near(~A, ~x);
    near(A.', x.');
    near((A + 1i * B)', (x + 1i * y)');
    near(A * B.', x * y.');
    near(A * y.', x * y.');
    near(x * B.', x * y.');
    near(A.' * C, x.' * y);
    near(binfun(@max, A, C), max(x, y));
    near(summation(zeros(4, 6, maps{1}), {A, B, C}), x + 2 * y);
    near(summation(zeros(4, 6, maps{1}), A), x);
    near(sum(A), sum(x));
    near(sum(A, 2), sum(x, 2));
    near(dot(A, C), dot(x, y));
    near(dot(A, y, 2), dot(x, y, 2));
    near(cross(A(1:3, :), C(1:3, :)), cross(x(1:3, :), y(1:3, :)));
  end
  m = maps{1};
  fails('pMatlab:size', @() zeros(2, 3, m) + zeros(3, 2, m));
  fails('pMatlab:size', @() zeros(2, 3, m) + zeros(3, 2));
  fails('pMatlab:size', @() zeros(2, 3, m) * zeros(2, 3, m));
  fails('pMatlab:size', @() zeros(2, 3, m) / zeros(2, 3));
  fails('pMatlab:size', @() dot(zeros(2, 3, m), zeros(3, 2)));
  fails('pMatlab:size', @() qr(zeros(2, 3, m)));
  fails('pMatlab:dimension', @() zeros(2, 3, 4, m));
  fails('pMatlab:arguments', @() zeros(2, m, 3));
  if Np > 1
    fails('pMatlab:size', @() agg(put_local(zeros(20, 30, m), ones(3))));
  end
  outside = zeros(2, 2 * Np + 2, map([1 Np + 1], {}, 0:Np));
  fails('pMatlab:rank', @() remap(outside, map([1 1], {}, 0)));
end

function functions_of_elements()
  x = reshape(1:12, 3, 4) / 13;
  A = distributed(x, map([1 Np], {}, 0:Np - 1));
  for name = {'abs', 'acos', 'acosd', 'acosh', 'acot', 'acotd', 'acoth', 'acsc', 'acscd', 'acsch', 'angle', 'asec', ...
      'asecd', 'asech', 'asin', 'asind', 'asinh', 'atan', 'atand', 'atanh', 'ceil', 'complex', 'conj', 'cos', 'cosd', ...
      'cosh', 'cot', 'cotd', 'coth', 'csc', 'cscd', 'csch', 'exp', 'expm1', 'fix', 'floor', 'imag', 'log', ...
      'log1p', 'log10', 'log2', 'pow2', 'real', 'reallog', 'realsqrt', 'round', 'sec', 'secd', 'sech', 'sign', ...
      'sin', 'sind', 'sinh', 'sqrt', 'tan', 'tand', 'tanh'}
    near(feval(name{1}, A), feval(name{1}, x));
  end
  for name = {'double', 'single', 'int8', 'int16', 'int32', 'int64', 'uint8', 'uint16', 'uint32', 'uint64', ...
      'logical', 'char'}
    C = feval(name{1}, A * 50);
    assert(class(local(C)), name{1});
    assert(isequal(agg_all(C), feval(name{1}, x * 50)));
  end
end

function transforms()
  x = magic(6)(:, 1:5);
  kernel = [1 2 3; 4 5 6];
  for each = many_maps()
    A = distributed(x, each{1});
    near(fft(A), fft(x));
    near(fft(A, [], 2), fft(x, [], 2));
    near(fft(A, 8), fft(x, 8));
    near(fft(A, 3, 2), fft(x, 3, 2));
    near(ifft(fft(A)), x);
    near(idct(dct(A)), x);
    for shape = {'full', 'same', 'valid'}
      near(conv2(A, kernel, shape{1}), conv2(x, kernel, shape{1}));
    end
    near(conv2(kernel, A), conv2(kernel, x));
    [i, j, v] = find(A - 20 > 0);
    [k, l] = find(x > 20);
    assert(isequal(sortrows([i j]), sortrows([k l])) || ~inmap(each{1}, Pid));
    if inmap(each{1}, Pid)
      assert(isequal(sort(find(A > 20)), find(x > 20)));
    else
      assert(isempty(i) && isempty(find(A > 20)));
    end
    square = magic(4);
    RQ = agg_all(qr(distributed(square, each{1})));
    assert(norm(RQ(:, 5:8)' * RQ(:, 1:4) - square) < 1e-10 && norm(tril(RQ(:, 1:4), -1)) < 1e-10);
  end
  n = (1:6)';
  near(dct(distributed(x, map([1 Np], {}, 0:Np - 1))), ...
    [sqrt(1 / 6); repmat(sqrt(2 / 6), 5, 1)] .* cos(pi * (2 * n' - 1) .* (n - 1) / 12) * x);
  row = distributed((1:9) .^ 2, map([1 Np], {}, 0:Np - 1));
  near(fft(row), fft((1:9) .^ 2));
  near(idct(dct(row * 1i)), (1:9) .^ 2 * 1i);
  x = reshape(sin(1:60), 3, 4, 5);
  A = distributed(x, map([1 1 Np], {}, 0:Np - 1));
  for k = 1:3
    near(fft(A, [], k), fft(x, [], k));
  end
  [i, j] = find(distributed(x > 0.5, map([Np 1 1], 'c', 0:Np - 1)));
  [k, l] = find(x > 0.5);
  assert(isequal(sortrows([i j]), sortrows([k(:) l(:)])));
end

function collectives()
  global pMATLAB
  before = pMATLAB.tag_num;
  total = gagg(Pid + 1);
  if Pid == 0
    assert(total == Np * (Np + 1) / 2);
  else
    assert(total == Pid + 1);
  end
  assert(gagg_all([Pid -Pid], Np - 1, 'max'), [Np - 1, 0]);
  assert(gagg_all([Pid -Pid], 0, 'min'), [0, 1 - Np]);
  assert(gagg_all(single(1), 0, 'sum') == Np);
  lowest = gagg(-Pid, Np - 1, 'min');
  assert(lowest == -Pid || Pid == Np - 1);
  assert(gagg_add([1 5], [3 2], 'max'), [3 5]);
  fails('pMatlab:operator', @() gagg_add(1, 2, '*'));
  assert(multicast(Np - 1, 0:Np - 2, {Pid, 'text'}), {Np - 1, 'text'});
  if Np > 2
    assert(multicast(1, Np - 1, Pid), Pid * ~any(Pid == Np - 1) + any(Pid == Np - 1));
  end
  assert(pMATLAB.tag_num > before);
  assert(pMATLAB.tag, sprintf('tag-%d', pMATLAB.tag_num));
end

function messages()
  next = mod(Pid + 1, Np);
  previous = mod(Pid - 1, Np);
  SendMsg(next, 9, 'a name', magic(3), {Pid});
  [name, square, list] = RecvMsg(previous, 9);
  assert(isequal({name, square, list}, {'a name', magic(3), {previous}}));
  [a, b] = BcastMsg(Np - 1, 10, Pid, 'x');
  assert(isequal({a, b}, {Np - 1, 'x'}));
  if Pid == 0
    SendMsg(1:Np - 1, 11, 5);
  else
    assert(RecvMsg(0, 11) == 5);
    [ranks, tags] = ProbeMsg(0, 12);
    assert(isempty(ranks) && isempty(tags));
  end
end

function files()
  name = tempname();
  name = multicast(0, 1:Np - 1, name);
  x = int16(magic(5));
  for each = many_maps()
    save_dmat(put_local(zeros(5, 5, each{1}), int16(local(distributed(double(x), each{1})))), name);
    if Pid == 0
      handle = fopen(name);
      assert(isequal(fread(handle, Inf, 'int16=>int16'), x(:)));
      fclose(handle);
    end
    gagg_all(0);
  end
  if Pid == 0
    save_dmat(magic(3), name);
    handle = fopen(name);
    assert(isequal(fread(handle, Inf, 'double'), magic(3)(:)));
    fclose(handle);
    delete(name);
  end
end

constructors();
maps_themselves();
knowledge();
plain_arrays();
indices();
operators();
functions_of_elements();
transforms();
collectives();
messages();
files();
global pMATLAB
assert(pMATLAB.comm_size == Np && pMATLAB.my_rank == Pid && isequal(pMATLAB.pList, 0:Np - 1));
% Without MPI: each process alone.
pMatlabGlobalsInit;
assert(Np == 1 && Pid == 0 && gagg_all(3) == 3);
A = zeros(3, 4, map([1 Np], {}, 0:Np - 1));
A(2, :) = 1:4;
assert(isequal(agg(A), [0 0 0 0; 1:4; 0 0 0 0]) && isequal(agg_all(transpose_grid(A)), agg(A)));

clear all
pMatlab_Init;
assert(pMATLAB.tag_num == 0 && pMATLAB.leader == 0 && strcmp(pMatlab_ver, '2.0.15'));
assert(isequal(agg_all(ones(2, Np, map([1 Np], {}, 0:Np - 1))), ones(2, Np)));
pMatlab_Finalize;
