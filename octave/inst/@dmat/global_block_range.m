function varargout = global_block_range(d, dims)
% GLOBAL_BLOCK_RANGE: first and last index that this rank has; see help global_block_range.
if nargin < 2
  dims = 1:numel(d.sizes);
end
varargout = cell(1, numel(dims));
[varargout{:}] = global_range(d, dims);
for k = 1:numel(dims)
  if ~isempty(varargout{k})
    varargout{k} = varargout{k}([1 end]);
  end
end
