function B = spmdReduce(fcn, A, destination)
% SPMDREDUCE  Combines the values of all workers by a function.
%
%   B = spmdReduce(fcn, A)                  the result at all workers
%   B = spmdReduce(fcn, A, destination)     at one; B is [] at the others
%
% fcn is a handle of a function of two values, or its name, such as @max, 'plus' or @(x, y) [x, y]; it has to be associative. Values
% are combined in the order of the workers. All workers call it, with the same fcn and destination.
%
% Errors: mpi:rank for a destination that is no worker's, and those of fcn.
%
% Example:
%   worst = spmdReduce(@max, norm(r));
%
% gop is the older name. In the standard: MPI_Allreduce and MPI_Reduce, section 6.9.
%
% See also: spmdPlus, spmdCat.
  if nargin < 2
    error('mpi:argument', 'spmdReduce: spmdReduce(fcn, A, destination) needs a function and a value');
  end
  if ischar(fcn)
    fcn = str2func(fcn);
  end
  c = mpi.world();
  if nargin < 3 || isempty(destination)
    B = c.allreduce(A, fcn);
  else
    B = c.reduce(A, fcn, spmd_rank('spmdReduce', destination));
  end
end

%!assert(spmdReduce(@max, [1 2]), [1 2])
%!assert(spmdReduce('plus', 3, 1), 3)
%!error id=mpi:argument spmdReduce(@max)
%!error id=mpi:rank spmdReduce(@max, 3, 2)
