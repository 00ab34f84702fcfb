function c = world()
% WORLD  The communicator of all processes of the job; starts MPI if need be.
%
%   c = mpi.world;  fprintf('rank %d of %d\n', c.rank, c.size);
%
% A program that ends, or a session that is left, finalizes MPI by itself.  Section 7.4.1 of the MPI standard, MPI_COMM_WORLD.
%
% Example: c = mpi.world; fprintf('rank %d of %d\n', c.rank, c.size);
  persistent kept
  if isempty(kept)
    postrider_call('start');
    kept = postrider_call('predefined', 'world');
  end
  c = kept;
end

%!test
%! c = mpi.world;
%! assert([c.rank, c.size], [0 1]);
%! assert(c.allreduce(5, '+'), 5);

%!demo
%! c = mpi.world;
%! fprintf('rank %d of %d\n', c.rank, c.size);
%! c.send({'a name', magic(3)}, c.rank, 7);    % any value, to itself
%! [value, status] = c.recv(c.rank, 7)
%! total = c.allreduce(c.rank + 1, '+')
