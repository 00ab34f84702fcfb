classdef Buffer < handle
% BUFFER  Memory that stays in its place: for persistent and partitioned communication, and for windows.
%
%   b = mpi.Buffer(zeros(1000, 1));    memory of MPI like this array, which holds its elements
%   A = b.get();  x = b.get(5:7);      elements, from 1
%   b.set(A);  b.set([1 2 3], 5:7);    one element may stand for all
%   r = c.RecvInit(b, source, tag);  r.start();  r.wait();  A = b.get();
%
% b.address() is the place of its memory in a dynamic window: w.put(A, rank, address).
% The class of what is set must be the buffer's own.  mpi.IN_PLACE is a buffer that stands for the receive buffer.
%
% Example: b = mpi.Buffer(zeros(1, 3)); r = c.RecvInit(b, 0, 3); r.start(); r.wait(); x = b.get();
  properties (SetAccess = private)
    handle
  end
  methods
    array = get(b, elements)
    set(b, array, elements)
    address = address(b)
  end
  methods
    function b = Buffer(like, kind)
      if nargin > 1
        b.handle = like;
      else
        b.handle = postrider_call('Buffer.make', like);
      end
    end
    function delete(b)
      if ~isempty(b.handle)
        postrider_call('Buffer.release', b);
        b.handle = [];
      end
    end
  end
end

%!test
%! b = mpi.Buffer(zeros(1, 3));
%! b.set([1 2 3]);
%! assert(b.get(), [1 2 3]);
