function [first, last] = block(c, n)
% BLOCK  The part of 1:n that belongs to this process, when each has one block and sizes differ by one at most.
%
%   [first, last] = mpi.block(c, 1000000);
%   s = c.allreduce(sum(x(first:last)), '+');
%
% c is a communicator.  A process whose part is empty has last = first - 1.
  each = floor(n / c.size);
  rest = n - each * c.size;
  first = c.rank * each + min(c.rank, rest) + 1;
  last = first + each - 1 + (c.rank < rest);
end
