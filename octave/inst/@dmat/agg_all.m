function whole = agg_all(d)
% AGG_ALL: the whole array on all ranks; see help agg_all.
world = postrider.pmatlab();
whole = agg(d);
whole = multicast(world.leader, setdiff(0:world.comm_size - 1, world.leader), whole);
