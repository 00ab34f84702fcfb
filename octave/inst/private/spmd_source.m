function rank = spmd_source(name, index)
% SPMD_SOURCE  The rank of the worker with this index, or [], which matches all, for 'any', '' and [].
  if isempty(index) || (ischar(index) && strcmp(index, 'any'))
    rank = [];
  else
    rank = spmd_rank(name, index);
  end
end
