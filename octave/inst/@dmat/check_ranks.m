function check_ranks(d)
% CHECK_RANKS refuses to communicate over a map with ranks that do not run.
%
% Such an array can exist, and all ranks find out together, so that none waits for another.
world = postrider.pmatlab();
last = max(d.layout.grid(:));
if last >= world.comm_size
  error('pMatlab:rank', ['a map names rank %d, but there are %d processes (ranks 0 to %d): ' ...
    'start more processes, or make the map from 0:Np-1'], last, world.comm_size, world.comm_size - 1);
end
