classdef Win < handle
% WIN  Memory that other processes read and write (chapter 12 of the MPI standard).
%
%   w = mpi.Win.allocate(c, zeros(100, 1));    memory like this array at each process, w.buffer
%   w.lock(rank);  w.put([1 2 3], rank, 5);  w.unlock(rank);      elements 5 to 7 there
%   A = w.get(zeros(1, 3), rank, 5);
%   old = w.fetchAndOp(1, rank, 1, '+');  old = w.compareAndSwap(new, expected, rank, 1);
%
% The place in the target is an element, from 1, or an mpi.Datatype of the target's memory:
%
%   w.put(A, rank, mpi.Datatype.subarray([10 10], {2:3, ':'}))
%
% Between lock and unlock an access is complete when the call returns.  In an epoch of fence or start what comes back is received into
% an mpi.Buffer, and is there when the epoch has ended:
%
%   b = mpi.Buffer(zeros(1, 3));  w.fence();  w.get(b, rank, 5);  w.fence();  A = b.get();
%
% In a dynamic window memory has addresses, which processes tell each other:
%
%   w = mpi.Win.createDynamic(c);  w.attach(b);  places = c.allgather(b.address());  w.put(A, rank, places{rank + 1})
%
% accumulate getAccumulate rput rget raccumulate rgetAccumulate; lock(rank, shared) unlock lockAll unlockAll flush flushAll
% flushLocal flushLocalAll; fence; start post complete wait test; sync attach detach sharedQuery.
%
% Example: w = mpi.Win.allocate(c, zeros(100, 1)); w.lock(0); w.put([1 2 3], 0, 5); w.unlock(0);
  properties (SetAccess = private)
    handle
    buffer
  end
  methods (Static)
    function w = allocate(c, like, info)
      % Memory of MPI like an array, which holds its elements.
      if nargin < 3
        info = [];
      end
      w = mpi.Win(postrider_call('Win.makeAllocated', like, c, info));
    end
    function w = allocateShared(c, like, info)
      % The same, for processes of one host, who can access it directly: w.sharedQuery(rank, like).
      if nargin < 3
        info = [];
      end
      w = mpi.Win(postrider_call('Win.makeShared', like, c, info));
    end
    function w = create(c, buffer, info)
      % Of an mpi.Buffer, or [] for a process that has nothing to show.
      if nargin < 3
        info = [];
      end
      w = mpi.Win(postrider_call('Win.make', buffer, c, info));
      if ~isempty(buffer)
        w.buffer = buffer;
      end
    end
    function w = createDynamic(c)
      % Without memory, which is attached later.
      w = mpi.Win(postrider_call('Win.makeDynamic', c));
    end
  end
  methods
    put(w, array, rank, place)
    array = get(w, like, rank, place)
    accumulate(w, array, rank, place, op)
    array = getAccumulate(w, array, rank, place, op, like)
    old = fetchAndOp(w, value, rank, place, op, like)
    old = compareAndSwap(w, value, expected, rank, place, like)
    request = rput(w, array, rank, place)
    request = rget(w, like, rank, place)
    request = raccumulate(w, array, rank, place, op)
    request = rgetAccumulate(w, array, rank, place, op, like)
    fence(w, assert)
    start(w, group, assert)
    complete(w)
    post(w, group, assert)
    wait(w)
    done = test(w)
    lock(w, rank, shared, assert)
    unlock(w, rank)
    lockAll(w, assert)
    unlockAll(w)
    flush(w, rank)
    flushAll(w)
    flushLocal(w, rank)
    flushLocalAll(w)
    sync(w)
    attach(w, buffer)
    detach(w, buffer)
    group = getGroup(w)
    name = getName(w)
    setName(w, name)
    value = getAttr(w, name)
    callErrhandler(w, code)
    info = getInfo(w)
    setInfo(w, info)
  end
  methods
    function w = Win(handles)
      w.handle = handles(1);
      if handles(2) ~= 0
        w.buffer = mpi.Buffer(handles(2), 'handle');
      end
    end
    function b = sharedQuery(w, rank, like)
      % The memory of another process of the host, as an mpi.Buffer like an array.
      b = mpi.Buffer(postrider_call('Win.sharedBlock', w, rank, like), 'handle');
    end
    function free(w)
      postrider_call('release', w);
      w.handle = 0;
      w.buffer = [];
    end
  end
end

%!test    % Elements count from 1.
%! w = mpi.Win.allocate(mpi.world, zeros(1, 10));
%! w.lock(0);
%! w.accumulate(5, 0, 3);
%! assert(w.fetchAndOp(1, 0, 3, '+'), 5);
%! w.unlock(0);
%! w.free();
