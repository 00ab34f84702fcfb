% agg() over several hosts: each byte of a part that lies on another host than the leader crosses to the leader's host once, and goes nowhere
% else. Counted, for each host, at its network, where encryption adds little; one byte that went twice would double the sum.
function bytes = network(column)
  rows = strsplit(fileread('/proc/net/dev'), sprintf('\n'));
  bytes = 0;
  for row = rows(3:end)
    words = regexp(strtrim(row{1}), '[:\s]+', 'split');
    if numel(words) > 9 && ! strcmp(words{1}, 'lo')
      bytes += str2double(words{column});
    end
  end
end
received = 2;
sent = 10;

c = mpi.world;
everywhere = c.allgather(mpi.processorName());
host = everywhere{c.rank + 1};
assert(numel(unique(everywhere)) > 1);
extent = 1500;
maps = {map([c.size 1], {}, 0:c.size-1), map([1 c.size], 'c', 0:c.size-1), map([1 c.size], {}, c.size-1:-1:0)};
for m = maps
  A = zeros(extent, extent, m{1});
  A = put_local(A, rand(size(local(A))));
  % Links are opened at the first time.
  agg(A);
  c.barrier();
  before = [network(received), network(sent)];
  c.barrier();
  whole = agg(A);
  c.barrier();
  grown = [network(received), network(sent)] - before;
  parts = c.gather({host, 8 * numel(local(A)), grown}, 0);
  if c.rank == 0
    assert(size(whole), [extent extent]);
    away = cellfun(@(part) ! strcmp(part{1}, host), parts);
    outside = sum(cellfun(@(part) part{2}, parts(away)));
    assert(grown(1) >= outside && grown(1) < 1.5 * outside, 'of %d bytes on other hosts %d came', outside, grown(1));
    for name = unique(everywhere(away))
      there = strcmp(everywhere, name{1});
      own = sum(cellfun(@(part) part{2}, parts(there)));
      went = max(cellfun(@(part) part{3}(2), parts(there)));
      came = max(cellfun(@(part) part{3}(1), parts(there)));
      assert(went < 1.5 * own && came < 0.5 * own, 'of %d bytes on %s %d went, and %d came there', own, name{1}, went, came);
    end
  end
end
if c.rank == 0
  disp('each byte crosses once');
end
