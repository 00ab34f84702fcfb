function d = take(d, whole)
% TAKE fills a distributed array from a plain one that the leader has.
check_ranks(d);
world = postrider.pmatlab();
from = postrider.maps.layout(d.sizes, world.leader, repmat(struct('dist', 'b'), 1, numel(d.sizes)), []);
steps = postrider.cached_plan(from, d.layout, world.my_rank);
d.part = postrider.redistribute(steps, whole, d.extent);
