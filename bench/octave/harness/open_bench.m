function bench = open_bench(words)
% OPEN_BENCH Reads the arguments of a program of the bench and makes its front end ready.
%
%   bench = open_bench(argv())
%
% The arguments are: the front end, which is the name of a file in bench/octave/fronts or `files`, the time for each size in
% milliseconds, and sizes in bytes, separated by commas. bench has the fields front (the functions), comm, rank, ranks, budget_s,
% sizes.
  root = fileparts(fileparts(mfilename('fullpath')));
  addpath(fullfile(root, 'fronts'));
  name = words{1};
  if strcmp(name, 'files')
    addpath(fullfile(root, 'files'));
    name = 'matlabmpi';
  end
  bench.budget_s = 1e-3 * str2double(words{2});
  bench.sizes = str2double(strsplit(words{3}, ','));
  bench.front = feval(name);
  [bench.comm, bench.rank, bench.ranks] = bench.front.open();
end
