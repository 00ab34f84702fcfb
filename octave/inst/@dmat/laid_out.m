function r = laid_out(d, like)
% LAID_OUT redistributes an array to the map and layout of another, in the array's own class.
r = dmat(d.sizes, like.map, like.layout);
d = checked(d);
check_ranks(r);
world = postrider.pmatlab();
steps = postrider.cached_plan(d.layout, r.layout, world.my_rank);
r.part = postrider.redistribute(steps, d.part, r.extent);
