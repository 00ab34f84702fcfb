function d = synch(d)
% SYNCH: brings the copies of overlapping indices up to date; see help synch.
if ~any([d.layout.dims.overlap])
  return
end
d = checked(d);
world = postrider.pmatlab();
steps = postrider.cached_plan(d.layout, d.layout, world.my_rank);
steps.copy = steps.copy([]);
d.part = postrider.redistribute(steps, d.part, size(d.part), d.part);
