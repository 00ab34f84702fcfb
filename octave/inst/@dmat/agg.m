function whole = agg(d)
% AGG: the whole array on the leader; see help agg.
world = postrider.pmatlab();
if world.comm_size == 1 && isequal(d.layout.grid, world.leader)
  whole = d.part;
  return
end
part = d.part;
d = checked(d);
to = postrider.maps.layout(d.sizes, world.leader, repmat(struct('dist', 'b'), 1, numel(d.sizes)), []);
steps = postrider.cached_plan(d.layout, to, world.my_rank);
whole = postrider.redistribute(steps, d.part, d.sizes * (world.my_rank == world.leader));
if world.my_rank ~= world.leader
  whole = part;
end
