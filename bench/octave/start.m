% A program that only begins and ends; it is timed from outside.
%
% Usage: postrider run -n N octave start.m FRONT 0 0

addpath(fullfile(fileparts(mfilename('fullpath')), 'harness'));
bench = open_bench(argv());
if bench.rank == 0
  fprintf('{"library":"Octave %s","ranks":%d}\n', version, bench.ranks);
end
bench.front.close();
