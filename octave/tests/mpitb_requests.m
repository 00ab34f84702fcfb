1;
% Nonblocking and persistent operations, and every way to complete them.
function check(info)
  assert(info, 0);
end

function finish_elsewhere(req)
  % No variable of this function is named as the buffers are.
  MPI_Start(req);
  MPI_Wait(req);
end

postrider.use('mpitb');
check(MPI_Init);
world = MPI_COMM_WORLD;
[info, rank] = MPI_Comm_rank(world);
[info, ranks] = MPI_Comm_size(world);
right = mod(rank + 1, ranks);
left = mod(rank - 1, ranks);

% One request.
buf = zeros(1, 3);
[info, r] = MPI_Irecv(buf, left, 1, world);
[info, s] = MPI_Isend([rank 1 2], right, 1, world);
[info, stat] = MPI_Wait(r);
check(info);
assert(buf, [left 1 2]);
assert([stat.src stat.tag stat.err stat.len], [left 1 0 24]);
assert(r, MPI_REQUEST_NULL);
flag = 0;
while ~flag
  [info, flag, stat] = MPI_Test(s);
  check(info);
end
assert(s, MPI_REQUEST_NULL);
% Complete requests, and none, are over at once, also by a copy of the number.
[info, copy] = MPI_Isend(1, MPI_PROC_NULL, 1, world);
again = copy;
check(MPI_Wait(copy));
[info, stat] = MPI_Wait(again);
check(info);
assert([stat.src stat.tag stat.len], [MPI_ANY_SOURCE MPI_ANY_TAG 0]);
check(MPI_Wait(MPI_REQUEST_NULL));
[info, flag] = MPI_Test(MPI_REQUEST_NULL);
assert(flag, 1);

% Modes.
check(MPI_Buffer_attach(zeros(1, 1000)));
a = 0; b = 0; c = 0;
[info, r1] = MPI_Irecv(a, left, 1, world);
[info, r2] = MPI_Irecv(b, left, 2, world);
[info, r3] = MPI_Irecv(c, left, 3, world);
check(MPI_Barrier(world));
[info, s1] = MPI_Issend(rank + 10, right, 1, world);
check(info);
[info, s2] = MPI_Irsend(rank + 20, right, 2, world);
check(info);
[info, s3] = MPI_Ibsend(rank + 30, right, 3, world);
check(info);
[info, stats] = MPI_Waitall(r1, r2, r3, s1, s2, s3);
check(info);
assert([a b c], left + [10 20 30]);
assert([stats(1:3).tag], 1:3);
assert([stats(1:3).len], [8 8 8]);
assert(size(stats), [1 6]);
assert([r1 r2 r3 s1 s2 s3], MPI_REQUEST_NULL * ones(1, 6));
check(MPI_Buffer_detach);

% An array and a cell of requests; indices count from 0.
values = cell(1, 4);
r = zeros(1, 4);
one = -1; two = -1; three = -1; four = -1;
[info, r(1)] = MPI_Irecv(one, left, 11, world);
[info, r(2)] = MPI_Irecv(two, left, 12, world);
[info, r(3)] = MPI_Irecv(three, left, 13, world);
[info, r(4)] = MPI_Irecv(four, left, 14, world);
[info, flag] = MPI_Testall(r);
[info, idx, flag2] = MPI_Testany(r);
[info, idxs, stats] = MPI_Testsome(r);
assert([flag flag2 numel(idxs) numel(stats)], [0 0 0 0]);
check(MPI_Barrier(world));
check(MPI_Send(3, right, 13, world));
[info, idx, stat] = MPI_Waitany(r);
assert([info idx stat.tag], [0 2 13]);
assert(three, 3);
assert(r(3), MPI_REQUEST_NULL);
check(MPI_Barrier(world));
check(MPI_Send(1, right, 11, world));
[info, idxs, stats] = MPI_Waitsome(r);
assert([info idxs stats.tag], [0 0 11]);
assert(one, 1);
check(MPI_Barrier(world));
check(MPI_Send(2, right, 12, world));
flag = 0;
while ~flag
  [info, idx, flag, stat] = MPI_Testany(r);
end
assert([info idx stat.tag], [0 1 12]);
check(MPI_Barrier(world));
check(MPI_Send(4, right, 14, world));
idxs = [];
while isempty(idxs)
  [info, idxs, stats] = MPI_Testsome(r);
end
assert([info idxs stats.tag], [0 3 14]);
[info, flag, stats] = MPI_Testall(r);
assert([info flag], [0 1]);
[info, idx] = MPI_Waitany(r);
assert(idx, MPI_UNDEFINED);
[info, idxs] = MPI_Waitsome(r);
assert(isempty(idxs));
assert(r, MPI_REQUEST_NULL * ones(1, 4));
requests = cell(1, 5);
for k = 1:5
  [info, requests{k}] = MPI_Isend(k, right, k, world);
end
for k = 5:-1:1
  check(MPI_Recv(one, left, k, world));
  assert(one, k);
end
check(MPI_Waitall(requests{:}));

% Persistent operations follow their variables.
for mode = {@MPI_Send_init, @MPI_Ssend_init, @MPI_Rsend_init}
  out = [0 0];
  in = [0 0];
  [info, r] = MPI_Recv_init(in, left, 5, world);
  check(info);
  if isequal(mode{1}, @MPI_Send_init)
    [info, s] = MPI_Send_init(out, right, 5, world);
  elseif isequal(mode{1}, @MPI_Ssend_init)
    [info, s] = MPI_Ssend_init(out, right, 5, world);
  else
    [info, s] = MPI_Rsend_init(out, right, 5, world);
  end
  check(info);
  kept = {};
  for k = 1:4
    if mod(k, 2)
      out(:) = rank + k;
    else
      out = rank + k + [0 0];
      in = [-1 -1];
    end
    check(MPI_Start(r));
    check(MPI_Barrier(world));
    check(MPI_Start(s));
    [info, stat] = MPI_Wait(r);
    check(info);
    assert(stat.len, 16);
    check(MPI_Wait(s));
    assert(in, left + k + [0 0]);
    kept{k} = in;
  end
  for k = 1:4
    assert(kept{k}, left + k + [0 0]);
  end
  assert(r ~= MPI_REQUEST_NULL && s ~= MPI_REQUEST_NULL);
  % An inactive request is complete.
  check(MPI_Wait(r));
  [info, flag] = MPI_Test(s);
  assert(flag, 1);
  check(MPI_Request_free(r));
  check(MPI_Request_free(s));
  assert([r s], MPI_REQUEST_NULL * [1 1]);
end
check(MPI_Buffer_attach(zeros(1, 1000)));
out = 'one';
in = '   ';
[info, s] = MPI_Bsend_init(out, right, 6, world);
[info, r] = MPI_Recv_init(in, left, 6, world);
out = 'two';
check(MPI_Startall(s, r));
check(MPI_Waitall(s, r));
assert(in, 'two');
% In a function that has no such variable: with the array of before.
[info, req] = MPI_Isend('abc', rank, 6, world);
[info, self] = MPI_Recv_init(in, rank, 6, world);
finish_elsewhere(self);
check(MPI_Wait(req));
assert(in, 'abc');
check(MPI_Request_free(s));
check(MPI_Request_free(r));
check(MPI_Request_free(self));
check(MPI_Buffer_detach);

% Cancelled, and given up.
buf = 1;
[info, r] = MPI_Irecv(buf, left, 99, world);
check(MPI_Cancel(r));
[info, stat] = MPI_Wait(r);
check(info);
assert(stat.src, MPI_CANCEL_SOURCE);
[info, flag, same] = MPI_Test_cancelled(stat);
assert([info flag], [0 1]);
assert(same, stat);
assert(buf, 1);
[info, s] = MPI_Isend(5, right, 98, world);
check(MPI_Request_free(s));
assert(s, MPI_REQUEST_NULL);
[info, stat] = MPI_Recv(buf, left, 98, world);
[info, flag] = MPI_Test_cancelled(stat);
assert([buf flag], [5 0]);

% What is no request.
check(MPI_Errhandler_set(world, MPI_ERRORS_RETURN));
for info = [MPI_Wait(12345), MPI_Cancel(MPI_REQUEST_NULL), MPI_Start(MPI_REQUEST_NULL), MPI_Request_free(999999999)]
  [none, class_there] = MPI_Error_class(info);
  assert(class_there, MPI_ERR_REQUEST);
end
% An error of one of several is in its status.
[info, s] = MPI_Isend([1 2 3], rank, 97, world);
check(info);
small = 0;
[info, r] = MPI_Irecv(small, rank, 97, world);
[info, stats] = MPI_Waitall(s, r);
[none, class_there] = MPI_Error_class(info);
assert(class_there, MPI_ERR_IN_STATUS);
[none, class_there] = MPI_Error_class(stats(2).err);
assert([stats(1).err class_there], [0 MPI_ERR_TRUNCATE]);
check(MPI_Finalize);
