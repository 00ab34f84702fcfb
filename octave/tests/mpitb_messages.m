1;
% Blocking messages of all classes and modes, their statuses, and probes.
function check(info)
  assert(info, 0);
end

postrider.use('mpitb');
check(MPI_Init);
world = MPI_COMM_WORLD;
[info, rank] = MPI_Comm_rank(world);
[info, ranks] = MPI_Comm_size(world);
right = mod(rank + 1, ranks);
left = mod(rank - 1, ranks);

values = {pi, reshape(1:12, [3 4]) / 7, single(2.5), complex(1:3, 0), complex(2, 1), complex(single([1 2]), 3), 'a text', ['ab'; 'cd'], true, ...
          [true false; false true], int8(-3), uint8([1 2 3]), int16([1; 2]), uint16(7), int32(reshape(1:8, [2 2 2])), uint32(9), ...
          int64(2)^60, uint64([1 2]), zeros(0, 3), 1:5, Inf, NaN};
for k = 1:numel(values)
  sent = values{k};
  % Of the same class and size, with other elements.
  got = sent;
  if ischar(got)
    got(:) = 'z';
  elseif islogical(got)
    got = ~got;
  elseif iscomplex(got)
    got = complex(real(got) + 1, 7);
  else
    got(:) = 1;
  end
  [info, stat] = MPI_Sendrecv(sent, right, k, got, left, k, world);
  check(info);
  assert(isequaln(got, sent) && strcmp(class(got), class(sent)) && iscomplex(got) == iscomplex(sent), 'value %d', k);
  assert([stat.src stat.tag stat.err], [left k 0]);
  [info, bytes] = MPI_Get_count(stat);
  assert(bytes, stat.len);
  [info, elements] = MPI_Get_elements(stat, sent);
  assert(elements, numel(sent));
end

% Complex buffers stay complex when what arrives has no imaginary parts.
buf = complex(zeros(1, 4), 0);
for k = 1:3
  [info, stat] = MPI_Sendrecv(complex(1:4, k - 2), right, k, buf, left, k, world);
  assert(iscomplex(buf) && isequal(buf, complex(1:4, k - 2)));
end

% Modes; at one rank the receive has to be there first.
partner = rank + 1 - 2 * mod(rank, 2);
attached = zeros(1, 2000);
check(MPI_Buffer_attach(attached));
if partner < ranks
  if mod(rank, 2) == 0
    check(MPI_Send([1 2 3], partner, 1, world));
    check(MPI_Ssend('four', partner, 2, world));
    check(MPI_Bsend(int8(1:100), partner, 3, world));
    ready = 0;
    check(MPI_Recv(ready, partner, 4, world));
    check(MPI_Rsend(single(5), partner, 5, world));
  else
    buf = zeros(1, 5);
    copy = buf;
    [info, stat] = MPI_Recv(buf, MPI_ANY_SOURCE, MPI_ANY_TAG, world);
    assert(buf, [1 2 3 0 0]);
    assert(copy, zeros(1, 5));
    assert([stat.src stat.tag stat.len], [partner 1 24]);
    [info, stat] = MPI_Probe(partner, 2, world);
    check(info);
    [info, count] = MPI_Get_elements(stat, ' ');
    text = blanks(count);
    check(MPI_Recv(text, partner, 2, world));
    assert(text, 'four');
    flag = 0;
    while ~flag
      [info, flag, stat] = MPI_Iprobe(partner, MPI_ANY_TAG, world);
    end
    assert([stat.src stat.tag stat.len], [partner 3 100]);
    bytes = zeros(1, 100, 'int8');
    check(MPI_Recv(bytes, partner, 3, world));
    assert(bytes, int8(1:100));
    number = single(0);
    [info, req] = MPI_Irecv(number, partner, 5, world);
    check(MPI_Send(1, partner, 4, world));
    check(MPI_Wait(req));
    assert(number, single(5));
  end
end
check(MPI_Buffer_detach);
[info, flag, stat] = MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_SELF);
check(info);
assert(flag, 0);

buf = int32([rank rank]);
[info, stat] = MPI_Sendrecv_replace(buf, right, 9, left, 9, world);
check(info);
assert(buf, int32([left left]));
assert([stat.src stat.len], [left 8]);

% No process.
buf = 5;
[info, stat] = MPI_Recv(buf, MPI_PROC_NULL, 1, world);
check(info);
assert(buf, 5);
assert([stat.src stat.len], [MPI_PROC_NULL 0]);
check(MPI_Send(buf, MPI_PROC_NULL, 1, world));

% A message longer than the variable, and part of an element.
check(MPI_Errhandler_set(MPI_COMM_SELF, MPI_ERRORS_RETURN));
[info, req] = MPI_Isend(1:3, 0, 1, MPI_COMM_SELF);
buf = zeros(1, 2);
info = MPI_Recv(buf, 0, 1, MPI_COMM_SELF);
[none, class_there] = MPI_Error_class(info);
assert(class_there, MPI_ERR_TRUNCATE);
assert(buf, [0 0]);
MPI_Wait(req);
stat.len = 12;
[info, elements] = MPI_Get_elements(stat, 1);
assert(elements, MPI_UNDEFINED);
check(MPI_Finalize);
