function check_part(d)
% CHECK_PART refuses to communicate a local part that does not have the size of the map.
check_ranks(d);
wanted = d.extent;
got = size(d.part);
got(end + 1:numel(wanted)) = 1;
if ~isequal(got, wanted) && ~(any(wanted == 0) && isempty(d.part))
  world = postrider.pmatlab();
  error('pMatlab:size', ['the local part of rank %d has size %s, and the map gives it %s: put_local an array ' ...
    'of that size'], world.my_rank, mat2str(size(d.part)), mat2str(wanted));
end
