% The algebra of maps against brute force: random dimensions, layouts and selections.
1;

function n = pick(low, high)
n = low + floor(rand * (high - low + 1));
end

% The owner of each index and, for each position, what it stores, by dealing the indices out
% one after the other.
function [owners, stored] = dealt(len, parts, dist, overlap)
switch dist.dist
  case 'b'
    block = max(ceil(len / parts), 1);
  case 'c'
    block = 1;
  case 'bc'
    block = dist.b_size;
end
owners = zeros(1, len);
stored = cell(1, parts);
p = 1;
used = 0;
for i = 1:len
  owners(i) = p;
  stored{p}(end + 1) = i;
  used = used + 1;
  if used == block
    used = 0;
    p = mod(p, parts) + 1;
  end
end
for p = 1:parts
  for extra = 1:overlap
    next = (p - 1) * block + block + extra;
    if next <= len
      stored{p}(end + 1) = next;
    end
  end
end
end

function [dim, owners, stored] = random_dimension(len, parts)
dist = struct('dist', 'b', 'b_size', pick(1, 4));
overlap = 0;
switch pick(1, 4)
  case 1
    dist.dist = 'c';
  case 2
    dist.dist = 'bc';
  case 3
    overlap = pick(1, 4);
end
if parts == 1
  overlap = 0;
end
dim = postrider.maps.dimension(len, parts, dist, overlap);
[owners, stored] = dealt(len, parts, dist, overlap);
end

function same(a, b)
assert(isequal(a(:), b(:)));
end

function one_dimension()
len = pick(0, 23);
parts = pick(1, 6);
[dim, owners, stored] = random_dimension(len, parts);
positions = postrider.maps.owner(dim, 1:len);
same(positions, owners);
for p = 1:parts
  same(postrider.maps.indices(dim, p), stored{p});
  assert(size(postrider.maps.indices(dim, p), 1) == 1);
  same(postrider.maps.indices(dim, p, true), find(owners == p));
  r = postrider.maps.ranges(dim, p);
  listed = [];
  for k = 1:size(r, 1)
    listed = [listed, r(k, 1):r(k, 2)];
  end
  same(listed, stored{p});
  f = postrider.maps.falls(dim, p);
  assert(f.local_len == numel(stored{p}));
  chosen = floor(rand(1, pick(0, 9)) * len) + 1;
  if len == 0
    chosen = [];
  end
  [which, at] = postrider.maps.locate(dim, p, chosen, false);
  same(which, find(ismember(chosen, stored{p})));
  same(stored{p}(at), chosen(which));
  [which, at] = postrider.maps.locate(dim, p, chosen, true);
  same(which, find(ismember(chosen, find(owners == p))));
  same(stored{p}(at), chosen(which));
end
if len > 0
  back = postrider.maps.of_pitfalls(postrider.maps.pitfalls(dim), len);
  for p = 1:parts
    same(postrider.maps.indices(back, p), stored{p});
  end
  list = unique(floor(rand(1, 6) * len) + 1);
  part = postrider.maps.selection(dim, list);
  for p = 1:parts
    same(list(postrider.maps.indices(part, p)), list(ismember(list, stored{p})));
    same(list(postrider.maps.indices(part, p, true)), list(owners(list) == p));
    same(postrider.maps.owner(part, 1:numel(list)), owners(list));
  end
end
end

function [l, stored] = random_layout(sizes, ranks)
count = numel(sizes);
shape = ones(1, count);
for d = 1:count
  shape(d) = pick(1, 3);
end
order = randperm(ranks) - 1;
shape(end) = min(shape(end), max(1, floor(ranks / prod(shape(1:end - 1)))));
grid = reshape(order(1:prod(shape)), [shape 1]);
stored = cell(1, count);
dist = repmat(struct('dist', 'b', 'b_size', 1), 1, count);
l = postrider.maps.layout(sizes, grid, dist, []);
for d = 1:count
  [l.dims(d), ~, stored{d}] = random_dimension(sizes(d), shape(d));
end
end

% What every rank holds, by the lists of brute force.
function part = held(whole, l, stored, rank)
p = postrider.maps.position(l, rank);
part = [];
if ~isempty(p)
  index = cell(1, numel(p));
  for d = 1:numel(p)
    index{d} = stored{d}{p(d)};
  end
  part = whole(index{:});
end
end

function one_plan(seed)
count = pick(2, 4);
sizes = zeros(1, count);
for d = 1:count
  sizes(d) = pick(1, 7);
end
ranks = 81;
[from, stored_from] = random_layout(sizes, ranks);
target = cell(1, count);
whole = reshape(1:prod(sizes), sizes);
result = whole;
to_sizes = sizes;
if mod(seed, 3) == 0
  index = cell(1, count);
  for d = 1:count
    to_sizes(d) = sizes(d) + pick(0, 3);
    order = randperm(to_sizes(d));
    index{d} = order(1:sizes(d));
    if mod(seed, 2) == 0
      target{d} = index{d};
    else
      to_sizes(d) = sizes(d);
      index{d} = 1:sizes(d);
    end
  end
  result = -reshape(1:prod(to_sizes), to_sizes);
  result(index{:}) = whole;
end
before = -reshape(1:prod(to_sizes), to_sizes);
[to, stored_to] = random_layout(to_sizes, ranks);
plans = cell(1, ranks);
for rank = 0:ranks - 1
  plans{rank + 1} = postrider.maps.plan(from, to, rank, target);
end
for rank = 0:ranks - 1
  steps = plans{rank + 1};
  part = held(before, to, stored_to, rank);
  wanted = held(result, to, stored_to, rank);
  for piece = steps.receive
    sender = plans{piece.rank + 1}.send;
    sent = sender([sender.rank] == rank);
    assert(numel(sent) == 1);
    theirs = held(whole, from, stored_from, piece.rank);
    part(piece.index{:}) = theirs(sent.index{:});
  end
  if ~isempty(steps.copy)
    mine = held(whole, from, stored_from, rank);
    part(steps.copy.to{:}) = mine(steps.copy.from{:});
  end
  assert(isequal(part, wanted) || (isempty(part) && isempty(wanted)));
  for piece = steps.send
    peer = plans{piece.rank + 1}.receive;
    assert(sum([peer.rank] == rank) == 1);
  end
end
end

% pMatlab's rules, written out: the block is ceil(N/P), the last parts are shorter or empty.
function known_cases()
block = struct('dist', 'b');
dim = postrider.maps.dimension(10, 4, block);
assert(isequal(postrider.maps.ranges(dim, 4), [10 10]));
dim = postrider.maps.dimension(5, 4, block);
assert(isempty(postrider.maps.indices(dim, 4)));
dim = postrider.maps.dimension(10, 2, block, 2);
assert(isequal(postrider.maps.indices(dim, 1), 1:7));
assert(isequal(postrider.maps.indices(dim, 2), 6:10));
p = postrider.maps.pitfalls(dim);
assert(isequal([p.l p.r p.s p.n p.d p.p p.rem_cycle], [1 7 10 1 5 2 10]));
dim = postrider.maps.dimension(11, 3, struct('dist', 'bc', 'b_size', 2));
p = postrider.maps.pitfalls(dim);
assert(isequal([p.l p.r p.s p.n p.d p.p p.rem_cycle], [1 2 6 2 2 3 5]));
f = postrider.maps.falls(dim, 3);
assert(isequal({f.local_len f.complete_cycle f.complete_block}, {3 false false}));
f = postrider.maps.falls(dim, 1);
assert(isequal({f.l f.r f.s f.n f.local_len f.complete_cycle f.complete_block}, {1 2 6 2 4 true true}));
f = postrider.maps.falls(postrider.maps.dimension(7, 3, struct('dist', 'bc', 'b_size', 2)), 3);
assert(isequal({f.local_len f.complete_cycle f.complete_block}, {2 false true}));
end

for seed = 1:200
  rand('twister', seed);
  one_dimension();
end
for seed = 1:60
  rand('twister', 1000 + seed);
  one_plan(seed);
end
known_cases();
