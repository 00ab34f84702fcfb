function rank = spmd_rank(name, index)
% SPMD_RANK  The rank of the worker with this index, which counts from 1; name is that of the function that was given it.
  workers = spmdSize();
  if ~(isnumeric(index) && isscalar(index) && index == fix(index) && index >= 1 && index <= workers)
    if isnumeric(index) && isscalar(index)
      index = sprintf('%g', index);
    else
      index = ['a ' class(index)];
    end
    error('mpi:rank', '%s: %s is no index of a worker; those of this job are 1 to %d', name, index, workers);
  end
  rank = double(index) - 1;
end
