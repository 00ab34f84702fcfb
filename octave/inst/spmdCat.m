function B = spmdCat(A, dimension, destination)
% SPMDCAT  Concatenates the arrays of all workers, in their order.
%
%   B = spmdCat(A)                          along the second dimension, at all workers
%   B = spmdCat(A, dimension)
%   B = spmdCat(A, dimension, destination)  at one; B is [] at the others
%
% All workers call it, with arrays that cat(dimension, ...) can concatenate.
%
% Errors: mpi:rank for a destination that is no worker's, and those of cat.
%
% Example:
%   rows = spmdCat(part, 1);
%
% gcat is the older name. In the standard: MPI_Allgather and MPI_Gather, sections 6.5 and 6.7.
%
% See also: spmdReduce, spmdPlus.
  if nargin < 1
    error('mpi:argument', 'spmdCat: spmdCat(A, dimension, destination) needs a value');
  end
  if nargin < 2 || isempty(dimension)
    dimension = 2;
  end
  c = mpi.world();
  if nargin < 3 || isempty(destination)
    parts = c.allgather(A);
  else
    root = spmd_rank('spmdCat', destination);
    parts = c.gather(A, root);
    if c.rank ~= root
      B = [];
      return
    end
  end
  B = cat(dimension, parts{:});
end

%!assert(spmdCat([1; 2]), [1; 2])
%!assert(spmdCat([1; 2], 1, 1), [1; 2])
%!error id=mpi:argument spmdCat()
%!error id=mpi:rank spmdCat(1, 1, 2)
