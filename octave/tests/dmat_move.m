% Redistribution of distributed arrays between random pairs of maps: every element is checked on
% every rank, for all classes, whole arrays and parts.
1;

function n = pick(low, high)
  n = low + floor(rand * (high - low + 1));
end

% A map over some of the ranks, in any order, the same on all ranks.
function m = random_map(count)
  shape = ones(1, count);
  left = Np;
  for d = randperm(count)
    shape(d) = pick(1, left);
    left = floor(left / shape(d));
  end
  order = randperm(Np) - 1;
  list = order(1:prod(shape));
  switch pick(1, 4)
    case 1
      m = map(shape, {}, list);
    case 2
      m = map(shape, 'c', list);
    case 3
      overlap = zeros(1, count);
      for d = 1:count
        overlap(d) = pick(0, 3);
      end
      m = map(shape, {}, list, overlap);
    case 4
      dist = repmat(struct('dist', 'b', 'b_size', []), 1, count);
      kinds = {'b', 'c', 'bc'};
      for d = 1:count
        dist(d).dist = kinds{pick(1, 3)};
        dist(d).b_size = pick(1, 3);
      end
      m = map(shape, dist, list);
  end
end

function x = values(sizes, kind)
  x = reshape(1:prod(sizes), sizes);
  switch kind
    case 'complex'
      x = complex(x, -x);
    case 'single complex'
      x = single(complex(x, -x));
    case 'sparse'
      x = sparse(x .* (mod(x, 3) == 1));
    case 'sparse complex'
      x = sparse(complex(x, -x) .* (mod(x, 3) == 1));
    case 'sparse logical'
      x = sparse(mod(x, 3) == 1);
    case 'logical'
      x = mod(x, 3) == 1;
    case 'char'
      x = char(mod(x, 90) + 33);
    case 'cell'
      x = num2cell(x);
    otherwise
      x = feval(kind, x);
  end
end

function check(d, whole, what)
  assert(isa(d, 'dmat'), what);
  assert(isequal(size(d), size(whole)) || ndims(d) > ndims(whole), what);
  part = local(d);
  if inmap(d.map, Pid)
    index = cell(1, ndims(d));
    [index{:}] = global_ind(d);
    wanted = whole(index{:});
    assert(isequal(part, wanted) || (isempty(part) && isempty(wanted)), what);
    if ~isempty(wanted)
      assert(strcmp(class(part), class(wanted)) && issparse(part) == issparse(wanted), what);
      assert(iscomplex(part) == iscomplex(wanted) || isreal(wanted), what);
    end
  else
    assert(isempty(part), what);
  end
end

function d = distributed(whole, m)
  sizes = size(whole);
  sizes(end + 1:m.dim) = 1;
  d = zeros(sizes, m);
  part = whole([]);
  if inmap(m, Pid)
    index = cell(1, ndims(d));
    [index{:}] = global_ind(d);
    part = whole(index{:});
  end
  d = put_local(d, part);
end

kinds = {'double', 'single', 'int8', 'int16', 'int32', 'int64', 'uint8', 'uint16', 'uint32', 'uint64', ...
  'logical', 'char', 'complex', 'single complex', 'sparse', 'sparse complex', 'sparse logical', 'cell'};
for seed = 1:18 * (1 + 2 * (Np < 4))
  rand('twister', seed);
  kind = kinds{mod(seed, numel(kinds)) + 1};
  count = pick(2, 4);
  if strncmp(kind, 'sparse', 6)
    count = 2;
  end
  sizes = zeros(1, count);
  for d = 1:count
    sizes(d) = pick(1, 6);
  end
  whole = values(sizes, kind);
  what = sprintf('seed %d, %s', seed, kind);
  source = random_map(count);
  destination = random_map(count);
  D = distributed(whole, source);
  check(D, whole, what);
  R = remap(D, destination);
  assert(R.map == destination);
  check(R, whole, what);
  check(remap(R, source), whole, what);
  A = agg(D);
  if Pid == 0
    assert(isequal(A, whole) && strcmp(class(A), class(whole)) && issparse(A) == issparse(whole), what);
  else
    assert(isequal(A, local(D)), what);
  end
  assert(isequal(agg_all(D), whole), what);
  assert(isequal(g_mat(R), whole), what);
  if Pid == 0
    S = scatter(whole, destination);
  else
    S = scatter([], destination);
  end
  check(S, whole, what);
  if count == 2
    T = transpose_grid(D);
    check(T, whole, what);
    assert(isequal(size(T.map.grid), fliplr(size(D.map.grid))));
  end
end

% A(:, :) = B and A(I, J) = B(K, L): the class stays that of A.
for seed = 101:110 + 30 * (Np < 4)
  rand('twister', seed);
  count = pick(2, 3);
  sizes = zeros(1, count);
  for d = 1:count
    sizes(d) = pick(2, 7);
  end
  what = sprintf('assignment, seed %d', seed);
  whole = reshape(1:prod(sizes), sizes);
  target = -whole;
  if mod(seed, 3) == 0
    target = int16(target);
  elseif mod(seed, 3) == 1
    whole = complex(whole, 1);
  end
  B = distributed(whole, random_map(count));
  A = distributed(target, random_map(count));
  index = cell(1, count);
  from = cell(1, count);
  for d = 1:count
    length_here = pick(1, sizes(d));
    order = randperm(sizes(d));
    index{d} = order(1:length_here);
    order = randperm(sizes(d));
    from{d} = order(1:length_here);
    if mod(seed, 2) == 0 && d == 1
      index{d} = ':';
      from{d} = ':';
    end
  end
  C = A;
  C(:) = B;
  check(C, cast(whole, class(target)), what);
  if ~strcmp(class(target), 'double')
    whole = double(real(whole));
    B = real(B);
  end
  target(index{:}) = whole(from{:});
  A(index{:}) = B(from{:});
  check(A, target, what);
  chosen = B(from{:});
  assert(isequal(agg_all(chosen), whole(from{:})), what);
  check(remap(chosen, random_map(ndims(chosen))), whole(from{:}), what);
  target(index{:}) = 7;
  A(index{:}) = 7;
  check(A, target, what);
  block = reshape(50 + (1:numel(target(index{:}))), size(target(index{:})));
  target(index{:}) = block;
  A(index{:}) = block;
  check(A, target, what);
  target(:) = 3;
  A(:) = 3;
  check(A, target, what);
  target(:) = whole(:);
  A(:) = whole;
  check(A, target, what);
end

% Copies of overlapping indices: synch gives them the owner's value, synch2 adds both up.
for parts = 1:Np
  n = 3 * parts + 1;
  m = map([1 parts], {}, Np - parts:Np - 1, [0 2]);
  D = zeros(2, n, m);
  width = ceil(n / parts);
  mine = global_ind(D, 2);
  D = put_local(D, repmat(100 * Pid + mine, 2 * inmap(m, Pid), 1));
  S = synch(D);
  T = synch2(D);
  owner = Np - parts + floor(((1:n) - 1) / width);
  before = [zeros(1, width), owner(width + 1:end) - 1];
  copied = mod((1:n) - 1, width) < 2 & (1:n) > width & width >= 2;
  if inmap(m, Pid) && ~isempty(mine)
    assert(isequal(local(S), repmat(100 * owner(mine) + mine, 2, 1)));
    both = 100 * (owner + before) + 2 * (1:n);
    wanted = 100 * Pid + mine;
    wanted(copied(mine)) = both(mine(copied(mine)));
    assert(isequal(local(T), repmat(wanted, 2, 1)));
  end
  A = agg(synch(D));
  if Pid == 0
    assert(isequal(A, repmat(100 * owner + (1:n), 2, 1)));
  end
end
