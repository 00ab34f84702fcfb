function d = checked(d)
% CHECKED gives an array whose local part has the size of the map, or refuses to communicate.
%
% put_local takes anything. As in pMatlab a single number stands for a part full of it, and a
% part may differ in dimensions of length 1, a row in place of a column for instance.
check_ranks(d);
wanted = d.extent;
got = size(d.part);
got(end + 1:numel(wanted)) = 1;
if isequal(got, wanted) || (any(wanted == 0) && isempty(d.part))
  return
elseif isequal(got(got ~= 1), wanted(wanted ~= 1))
  d.part = reshape(d.part, wanted);
elseif numel(d.part) == 1
  d.part = repmat(d.part, wanted);
else
  world = postrider.pmatlab();
  error('pMatlab:size', ['the local part of rank %d has size %s, and the map gives it %s: put_local an array ' ...
    'of that size'], world.my_rank, mat2str(size(d.part)), mat2str(wanted));
end
