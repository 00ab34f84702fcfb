classdef Status
% STATUS  What is known of a message that was received (section 3.2.5 of the MPI standard).
%
%   [value, status] = c.recv();
%   status.source, status.tag, status.error
%   status.bytes                       of an array, its size; of a value, that of its encoding without large arrays
%   status.count('double')             how many elements of a class arrived
%   status.cancelled
%
% Example: [A, status] = c.Recv(zeros(1, 9), '*', '*'); n = status.count('double'); from = status.source;
  properties (SetAccess = private)
    source
    tag
    error
    bytes
    cancelled
  end
  methods
    function s = Status(source, tag, error, bytes, cancelled)
      s.source = source;
      s.tag = tag;
      s.error = error;
      s.bytes = bytes;
      s.cancelled = logical(cancelled);
    end
    function n = count(s, type)
      % Elements of a class ('double') or items of an mpi.Datatype; mpi.UNDEFINED if they are not a whole number.
      if ischar(type)
        type = mpi.Datatype(type);
      end
      n = s.bytes / type.getSize();
      if n ~= fix(n)
        n = mpi.UNDEFINED;
      end
    end
  end
end

%!test
%! c = mpi.world;
%! c.Send([1 2 3], 0, 4);
%! [A, status] = c.Recv(zeros(1, 5), 0, 4);
%! assert(A, [1 2 3 0 0]);
%! assert([status.source, status.tag], [0 4]);
