function [first, last] = block(c, n)
% BLOCK  The part of 1:n that belongs to this process, when each has one block and sizes differ by one at most.
%
%   [first, last] = mpi.block(c, 1000000);
%   s = c.allreduce(sum(x(first:last)), '+');
%
% c is a communicator.  A process whose part is empty has last = first - 1.
%
% Example: [first, last] = mpi.block(mpi.world, 1000);
  each = floor(n / c.size);
  rest = n - each * c.size;
  first = c.rank * each + min(c.rank, rest) + 1;
  last = first + each - 1 + (c.rank < rest);
end

%!test
%! [first, last] = mpi.block(mpi.world, 1000);
%! assert([first, last], [1 1000]);

%!test    % 10 numbers among 4 processes.
%! [first, last] = mpi.block(struct('rank', 1, 'size', 4), 10);
%! assert([first, last], [4 6]);
