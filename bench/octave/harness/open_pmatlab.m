function bench = open_pmatlab(words)
% OPEN_PMATLAB Reads the arguments of a program over pMatlab's interface and starts it.
%
%   bench = open_pmatlab(argv())
%
% The arguments are the time in milliseconds and the size. bench has the fields budget_s, size, ranks, rank, and all, the list of ranks.
  pMatlab_Init;
  bench.budget_s = 1e-3 * str2double(words{1});
  bench.size = str2double(words{2});
  bench.ranks = Np;
  bench.rank = Pid;
  bench.all = 0:Np - 1;
end
