function b = IN_PLACE()
% IN_PLACE  Stands for a send buffer that is the receive buffer: c.Allreduce(mpi.IN_PLACE, '+', buffer).
%
% The receive buffer is an mpi.Buffer.  Section 6.2.3 of the MPI standard.
%
% Example: b = mpi.Buffer([1 2 3]); c.Allreduce(mpi.IN_PLACE, '+', b);
  b = mpi.Buffer(1, 'handle');
end

%!test
%! c = mpi.world;
%! b = mpi.Buffer([1 2 3]);
%! c.Allreduce(mpi.IN_PLACE, '+', b);
%! assert(b.get(), [1 2 3]);
