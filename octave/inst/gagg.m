function m = gagg(m, dest, op)
% GAGG adds up plain arrays of all ranks, or takes their minimum or maximum.
%
%   S = gagg(M)
%   S = gagg(M, dest)
%   S = gagg(M, dest, op)
%
% M is an array of one size on all ranks. On rank dest (0 by default) S is the result, on the
% others it is M. op is '+' (or 'sum'), 'min' or 'max', element by element. The values meet in
% a binary tree, always in the same order.
%
% Errors: pMatlab:operator.
%
% Example: total = gagg(sum(local(D)(:)));
%
% See also: gagg_all, agg. From: pMatlab 2.0.15.
world = postrider.pmatlab();
if nargin < 2
  dest = world.leader;
end
if nargin < 3
  op = '+';
end
tag = postrider.next_tag();
place = mod(world.my_rank - dest, world.comm_size);
result = m;
step = 1;
while step < world.comm_size
  if mod(place, 2 * step) ~= 0
    MPI_Send(mod(place - step + dest, world.comm_size), tag, world.comm, result);
    return
  end
  if place + step < world.comm_size
    result = gagg_add(result, MPI_Recv(mod(place + step + dest, world.comm_size), tag, world.comm), op);
  end
  step = 2 * step;
end
m = result;

%!assert(gagg([1 2 3]), [1 2 3])
%!assert(gagg([1 2 3], 0, 'max'), [1 2 3])
