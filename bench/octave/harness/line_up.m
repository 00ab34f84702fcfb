function line_up(bench)
% LINE_UP Returns when all ranks have called it: everybody tells rank 0, which then tells everybody.
%
%   line_up(bench)
  front = bench.front;
  if bench.rank == 0
    for other = 1:bench.ranks - 1
      front.receive(0, other, 3, bench.comm);
    end
    for other = 1:bench.ranks - 1
      front.send(0, other, 4, bench.comm);
    end
  else
    front.send(0, 0, 3, bench.comm);
    front.receive(0, 0, 4, bench.comm);
  end
end
