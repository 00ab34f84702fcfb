1;
% Tags of any kind: numbers as they come, texts, and texts that have one hash.
function check_kinds(rank, comm)
  kinds = {0, 17, 2^30 - 1, 2^30, 2^31 - 1, 2^31, 2^40, 2^53, -1, -5, 0.5, 1e300, int64(9223372036854775807), uint8(200), ...
           true, 'tag-17', 'a b', '', char([0 255 10]), 'gr\374\337e', '-7', '017', '*x*', repmat('n', 1, 1000)};
  for k = numel(kinds):-1:1
    MPI_Send(rank, kinds{k}, comm, k, rand(100));
  end
  for k = 1:numel(kinds)
    [number, matrix] = MPI_Recv(rank, kinds{k}, comm);
    assert(number, k);
    assert(size(matrix), [100 100]);
  end
end

% One tag, written in two ways.
function check_same(rank, comm)
  same = {17, '17'; -5, '-5'; 2^40, '1099511627776'; 0.5, '0.5'; true, 1; int8(3), '3'};
  for k = 1:rows(same)
    MPI_Send(rank, same{k, 1}, comm, k);
    assert(MPI_Recv(rank, same{k, 2}, comm), k);
    MPI_Send(rank, same{k, 2}, comm, -k);
    assert(MPI_Recv(rank, same{k, 1}, comm), -k);
  end
end

% These two have the same hash; each is received in the order of its own.
function check_collision(rank, comm)
  left = mod(rank - 1, MPI_Comm_size(comm));
  right = mod(rank + 1, MPI_Comm_size(comm));
  for k = 1:3
    MPI_Send(right, 'tag-18164', comm, k, rand(200));
    MPI_Send(right, 'tag-59000', comm, -k, 'text');
  end
  for k = 1:3
    [number, text] = MPI_Recv(left, 'tag-59000', comm);
    assert({number, text}, {-k, 'text'});
  end
  [ranks, numbers, texts] = MPI_Probe('*', '*', comm);
  assert(ranks, repmat(left, 3, 1));
  assert(isnan(numbers), true(3, 1));
  assert(texts, repmat({'tag-18164'}, 3, 1));
  for k = 1:3
    [number, matrix] = MPI_Recv('*', '*', comm);
    assert(number, k);
    assert(size(matrix), [200 200]);
  end
end

function check_probe(rank, comm)
  tags = {'tag-1', 7, 'tag-2', -3, 12, 'other', 2^40};
  for k = 1:numel(tags)
    MPI_Send(rank, tags{k}, comm, k);
  end
  [ranks, numbers, texts] = MPI_Probe(rank, '*', comm);
  assert(ranks, repmat(rank, 7, 1));
  assert(numbers, [NaN; 7; NaN; -3; 12; NaN; 2^40]);
  assert(texts, {'tag-1'; '7'; 'tag-2'; '-3'; '12'; 'other'; '1099511627776'});
  [ranks, numbers] = MPI_Probe(rank, '*', comm);
  assert(numbers, [7; -3; 12; 2^40]);
  assert(size(ranks), [4 1]);
  [~, ~, texts] = MPI_Probe(num2str(rank), 'tag-*', comm);
  assert(texts, {'tag-1'; 'tag-2'});
  [~, ~, texts] = MPI_Probe('[0-9]*', '1?', comm);
  assert(texts, {'12'});
  assert(isempty(MPI_Probe(rank, 'nothing', comm)));
  [ranks, numbers, texts] = MPI_Probe(rank, 99, comm);
  assert(isempty(ranks) && isempty(numbers) && isempty(texts) && iscell(texts));
  for k = numel(tags):-1:1
    assert(MPI_Recv(rank, tags{k}, comm), k);
  end
end

function expect_error(pattern, varargin)
  try
    MPI_Send(varargin{:});
  catch problem
    assert(! isempty(regexp(problem.message, pattern, 'once')), problem.message);
    return
  end
  error('no error where one with ''%s'' was due', pattern);
end

MPI_Init;
comm = MPI_COMM_WORLD;
rank = MPI_Comm_rank(comm);
check_kinds(rank, comm);
check_same(rank, comm);
check_probe(rank, comm);
for k = {NaN, Inf, 1i, [1 2], {}, {'a'}, ['ab'; 'cd'], @sin, struct(), repmat('n', 1, 1366)}
  expect_error('tag must be', rank, k{1}, comm, 1);
end
check_collision(rank, comm);
MPI_Finalize;
