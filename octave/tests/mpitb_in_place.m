1;
% Variables that change in place: where they are, who shares them, and what is refused.
function check(info)
  assert(info, 0);
end

function value = receive_here(like)
  % The argument is a variable of this function; the caller's stays as it is.
  MPI_Recv(like, 0, 1, MPI_COMM_SELF);
  value = like;
end

function [buf, req] = begin_here(buf)
  [info, req] = MPI_Irecv(buf, 0, 1, MPI_COMM_SELF);
end

function wait_here(req)
  MPI_Wait(req);
end

function receive_global
  global buffer_of_all
  MPI_Recv(buffer_of_all, 0, 1, MPI_COMM_SELF);
end

function send_to_self(value)
  global pending
  [info, pending(end + 1)] = MPI_Isend(value, 0, 1, MPI_COMM_SELF);
end

function refuse(pattern, command)
  try
    evalin('base', command);
  catch problem
    assert(problem.identifier, 'mpi:argument');
    assert(~isempty(regexp(problem.message, pattern, 'once')), '%s', problem.message);
    return
  end
  error('%s was not refused', command);
end

global pending buffer_of_all
pending = [];
postrider.use('mpitb');
check(MPI_Init);
self = MPI_COMM_SELF;

% Other variables that share the elements.
first = zeros(1, 3);
second = first;
in_cell = {first};
in_struct.field = first;
send_to_self([1 2 3]);
check(MPI_Recv(first, 0, 1, self));
assert(first, [1 2 3]);
assert(second, zeros(1, 3));
assert(in_cell, {zeros(1, 3)});
assert(in_struct.field, zeros(1, 3));

% Scalars, and numbers that are constants of the program.
tag = 1;
buf = tag;
send_to_self(42);
check(MPI_Recv(buf, 0, tag, self));
assert([buf tag], [42 1]);
buf = 0;
for k = 1:3
  send_to_self(k);
  check(MPI_Recv(buf, 0, 1, self));
  all_of_them(k) = buf;
end
assert(all_of_them, 1:3);

% Ranges.
buf = 1:4;
send_to_self([9 8 7 6]);
check(MPI_Recv(buf, 0, 1, self));
assert(buf, [9 8 7 6]);

% Functions.
outside = [0 0];
send_to_self([5 6]);
assert(receive_here(outside), [5 6]);
assert(outside, [0 0]);
buffer_of_all = 0;
send_to_self(3);
receive_global();
assert(buffer_of_all, 3);

% What arrives is in the variable wherever that has gone, and in no other.
before = [0 0 0];
[buf, req] = begin_here(before);
send_to_self([1 2 3]);
wait_here(req);
assert(buf, [1 2 3]);
assert(before, [0 0 0]);
for value = {7, [1 2], 'text', true, [true false], single(1), int8([1 2 3]), complex(1, 2), complex([1 2], 0), zeros(2, 0)}
  sent = value{1};
  like = sent;
  if ~isempty(like)
    like(1) = 0;
  end
  if iscomplex(sent)
    like = complex(zeros(size(sent)), 0);
  end
  copy = like;
  [info, req] = MPI_Irecv(like, 0, 1, self);
  check(info);
  send_to_self(sent);
  [info, stat] = MPI_Wait(req);
  check(info);
  assert(isequal(like, sent) && strcmp(class(like), class(sent)) && iscomplex(like) == iscomplex(sent));
  if iscomplex(sent) || isempty(sent)
    continue
  end
  assert(double(copy(1)), 0);
end

% A cleared variable.
buf = zeros(1, 1000);
[info, req] = MPI_Irecv(buf, 0, 1, self);
clear buf
send_to_self(ones(1, 1000));
check(MPI_Wait(req));

% An array that is being sent may be changed.
sent = ones(1, 100000);
[info, req] = MPI_Isend(sent, 0, 2, self);
sent(:) = 2;
got = zeros(1, 100000);
check(MPI_Recv(got, 0, 2, self));
check(MPI_Wait(req));
assert(all(got == 1));

% From eval, and by a handle or a name that hides which variable is meant.
send_to_self(11);
buf = 0;
eval('info = MPI_Recv(buf, 0, 1, self);');
assert(buf, 11);

% Refused, and nothing is received.
record.buf = 1;
list = {1};
sparse_one = sparse(1);
handle = @sin;
rest = {0, 1, self};
refuse('name of a variable, not zeros \(3\)', 'MPI_Recv(zeros(3), 0, 1, self)');
refuse('name of a variable, not record.buf', 'MPI_Recv(record.buf, 0, 1, self)');
refuse('name of a variable, not list', 'MPI_Recv(list{1}, 0, 1, self)');
refuse('name of a variable, not buf', 'MPI_Recv(buf(1), 0, 1, self)');
refuse('name of a variable, not 5', 'MPI_Irecv(5, 0, 1, self)');
refuse('record is a struct.*MPI_Pack', 'MPI_Recv(record, 0, 1, self)');
refuse('list is a cell', 'MPI_Irecv(list, 0, 1, self)');
refuse('sparse_one is a sparse double', 'MPI_Recv(sparse_one, 0, 1, self)');
refuse('handle is a function_handle', 'MPI_Recv(handle, 0, 1, self)');
refuse('name of a variable', 'MPI_Sendrecv(1, rest{:}, buf(1), 0, 1)');
refuse('form is info = MPI_Send \(buf, dest, tag, comm\)', 'MPI_Send(1, 0, 1)');
refuse('form is \[info, rank\]', '[a, b, c] = MPI_Comm_rank(self)');
refuse('integer.*form is info = MPI_Send \(buf, dest, tag, comm\)', 'MPI_Send(1, 0, ''x'', self)');
refuse('request', 'MPI_Wait(''x'')');
send_to_self(12);
check(MPI_Recv(buf, rest{:}));
assert(buf, 12);
pending = num2cell(pending);
check(MPI_Waitall(pending{:}));
check(MPI_Finalize);
