function whole = agg(d)
% AGG: the whole array on the leader; see help agg.
check_part(d);
world = postrider.pmatlab();
to = postrider.maps.layout(d.sizes, world.leader, repmat(struct('dist', 'b'), 1, numel(d.sizes)), []);
steps = postrider.cached_plan(d.layout, to, world.my_rank);
whole = postrider.redistribute(steps, d.part, d.sizes * (world.my_rank == world.leader));
if world.my_rank ~= world.leader
  whole = d.part;
end
