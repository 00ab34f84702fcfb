function d = synch2(d)
% SYNCH2: adds up the overlapping indices, in both directions; see help synch2.
%
% One dimension after the other: the first indices of a part, of which the part before has
% copies, and those copies both become their sum.
world = postrider.pmatlab();
p = d.place;
for k = 1:numel(d.sizes)
  overlap = d.layout.dims(k).overlap;
  if overlap == 0
    continue
  end
  tag = postrider.next_tag();
  if isempty(p)
    continue
  end
  d = checked(d);
  [before, after] = neighbours(d, p, k);
  first = edge(d, k, p, before, overlap, false);
  last = edge(d, k, p, after, overlap, true);
  old = d.part;
  if before >= 0
    MPI_Send(before, tag, world.comm, old(first{:}));
  end
  if after >= 0
    MPI_Send(after, tag, world.comm, old(last{:}));
    d.part(last{:}) = d.part(last{:}) + MPI_Recv(after, tag, world.comm);
  end
  if before >= 0
    d.part(first{:}) = d.part(first{:}) + MPI_Recv(before, tag, world.comm);
  end
end

function [before, after] = neighbours(d, p, k)
before = -1;
after = -1;
if p(k) > 1
  before = neighbour(d, p, k, -1);
end
if p(k) < d.layout.shape(k)
  after = neighbour(d, p, k, 1);
end

function rank = neighbour(d, p, k, step)
p(k) = p(k) + step;
at = num2cell(p);
rank = d.layout.grid(at{:});

% The local indices that both neighbours have: the end of the earlier part, which is as long as
% what the later one has of it.
function index = edge(d, k, p, peer, overlap, at_end)
index = repmat({':'}, 1, numel(d.sizes));
if peer < 0
  return
end
first = p(k) + at_end;
dim = d.layout.dims(k);
mine = postrider.maps.indices(dim, first - 1);
theirs = postrider.maps.indices(dim, first);
both = intersect(mine(max(1, end - overlap + 1):end), theirs);
[~, index{k}] = postrider.maps.locate(dim, p(k), both, false);
