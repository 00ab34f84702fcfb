1;
% Variables of any kind through MPI_Pack and MPI_Unpack.
function check(info)
  assert(info, 0);
end

function unpack_here(buf)
  position = 0;
  [info, names] = MPI_Unpack(buf, position, MPI_COMM_SELF);
  assert(exist('record', 'var') == 1 && exist('numbers', 'var') == 1);
  assert(record.list{2}.deep, int8([1 2 3]));
end

postrider.use('mpitb');
check(MPI_Init);
world = MPI_COMM_WORLD;
[info, rank] = MPI_Comm_rank(world);
[info, ranks] = MPI_Comm_size(world);
right = mod(rank + 1, ranks);
left = mod(rank - 1, ranks);

record = struct('text', 'a text', 'list', {{1, struct('deep', int8([1 2 3])), true}});
numbers = rand(200, 50);
few = sparse([1 0 0; 0 2 0]);
z = complex(1:3, 0);
empty = zeros(0, 4);
% No code that nobody has allowed.
handle = @(x) x + 1;
[info, bytes] = MPI_Pack_size(handle, world);
msg = blanks(bytes);
check(MPI_Pack(handle, msg, 0, world));
try
  MPI_Unpack(msg, 0, world);
  error('nothing was wrong');
catch problem
  assert(~isempty(strfind(problem.message, 'mpi.allowFunctions')), '%s', problem.message);
end
handle = @sin;
[info, bytes] = MPI_Pack_size(handle, world);
msg = blanks(bytes);
pos = 0;
check(MPI_Pack(handle, msg, pos, world));
check(MPI_Unpack(msg, 0, world, 'same_handle'));
assert(same_handle(1), sin(1));
names = {'record', 'numbers', 'few', 'z', 'empty'};
total = 0;
for k = 1:numel(names)
  [info, bytes] = eval(['MPI_Pack_size(' names{k} ', world);']);
  check(info);
  total = total + bytes;
end
for like = {blanks(total), zeros(1, ceil(total / 8)), zeros(total, 1, 'uint8')}
  msg = like{1};
  kept = msg;
  pos = 0;
  for k = 1:numel(names)
    eval(['check(MPI_Pack(' names{k} ', msg, pos, world));']);
  end
  assert(pos, total);
  assert(isequal(kept, like{1}));
  [info, req] = MPI_Isend(msg, right, 1, world);
  [info, stat] = MPI_Probe(left, 1, world);
  [info, count] = MPI_Get_elements(stat, like{1});
  got = like{1};
  assert(count, numel(got));
  check(MPI_Recv(got, left, 1, world));
  check(MPI_Wait(req));
  % With the names that they had.
  sent = {record, numbers, few, z, empty};
  clear record numbers few z empty
  pos = 0;
  if numel(msg) * (1 + 7 * isa(msg, 'double')) == total
    [info, retnams] = MPI_Unpack(got, pos, world);
  else
    [info, retnams] = MPI_Unpack(got, pos, world, 'record', 'numbers', 'few', 'z', 'empty');
  end
  assert(info, zeros(1, 5));
  assert(cellstr(retnams), names');
  assert(pos, total);
  assert(isequal({record, few, z, empty}, sent([1 3 4 5])));
  assert(size(numbers), [200 50]);
  assert(issparse(few) && iscomplex(z));
  % With others, one after the other.
  pos = 0;
  [info, name] = MPI_Unpack(got, pos, world, 'first');
  assert({info name}, {0 'record'});
  assert(first, record);
  first = 5;
  [info, more] = MPI_Unpack(got, pos, world, 'second', 'third');
  assert(info, [0 0]);
  assert(isequal(third, few) && isequal(second, numbers) && first == 5);
end
msg = blanks(total);
pos = 0;
MPI_Pack(record, msg, pos, world);
MPI_Pack(numbers, msg, pos, world);
unpack_here(msg(1:pos));

% A position that is no variable, and an expression, which has no name.
[info, bytes] = MPI_Pack_size(1:3, world);
msg = blanks(bytes);
check(MPI_Pack(1:3, msg, 0, world));
[info, name] = MPI_Unpack(msg, 0, world, 'numbers');
assert({info, isempty(name), numbers}, {0, true, 1:3});

% A broadcast of a packed variable.
if rank == 0
  data = {'from', rank};
  [info, bytes] = MPI_Pack_size(data, world);
  check(MPI_Bcast(bytes, 0, world));
  msg = blanks(bytes);
  pos = 0;
  MPI_Pack(data, msg, pos, world);
  check(MPI_Bcast(msg, 0, world));
else
  bytes = 0;
  check(MPI_Bcast(bytes, 0, world));
  msg = blanks(bytes);
  check(MPI_Bcast(msg, 0, world));
  pos = 0;
  check(MPI_Unpack(msg, pos, world));
end
assert(data, {'from', 0});

% What does not fit, and what was not packed.
check(MPI_Errhandler_set(world, MPI_ERRORS_RETURN));
small = blanks(10);
pos = 0;
[none, class_there] = MPI_Error_class(MPI_Pack(record, small, pos, world));
assert(class_there, MPI_ERR_TRUNCATE);
assert({small, pos}, {blanks(10), 0});
info = MPI_Unpack(small, pos, world);
assert(info, MPI_ERR_TRUNCATE);
info = MPI_Unpack(repmat('no', 1, 100), pos, world);
assert(info, MPI_ERR_TYPE);
[info, bytes] = MPI_Pack_size(record, world);
msg = blanks(bytes);
pos = 0;
check(MPI_Pack(record, msg, pos, world));
msg(end - 20) = char(200);
pos = 0;
info = MPI_Unpack(msg(1:end - 1), pos, world);
assert(info, MPI_ERR_TRUNCATE);
for wrong = {'MPI_Pack(record, blanks(500), pos, world)', 'MPI_Pack(record, msg, -1, world)', ...
             'MPI_Unpack(msg, 1e9, world)', 'MPI_Unpack({}, 0, world)', 'MPI_Unpack(msg, 0, world, 5)'}
  failed = false;
  try
    eval([wrong{1} ';']);
  catch problem
    failed = true;
  end
  assert(failed, wrong{1});
end
check(MPI_Finalize);
