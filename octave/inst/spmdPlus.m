function S = spmdPlus(A, destination)
% SPMDPLUS  The sum of the values of all workers, element by element.
%
%   S = spmdPlus(A)                         at all workers
%   S = spmdPlus(A, destination)            at one; S is [] at the others
%
% All workers call it, with arrays of the same size or with sizes that plus() makes fit.
%
% Example:
%   total = spmdPlus(sum(mine));
%
% gplus is the older name. In the standard: MPI_Allreduce and MPI_Reduce with MPI_SUM, section 6.9.
%
% See also: spmdReduce, spmdCat.
  if nargin < 1
    error('mpi:argument', 'spmdPlus: spmdPlus(A, destination) needs a value');
  end
  if nargin < 2
    destination = [];
  end
  S = spmdReduce(@plus, A, destination);
end

%!assert(spmdPlus([1 2]), [1 2])
%!assert(spmdPlus([1 2], 1), [1 2])
%!error id=mpi:argument spmdPlus()
