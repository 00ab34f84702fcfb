% The least that a program with distributed arrays needs; whether it runs says whether there are any.
%
% Usage: postrider run -n N octave first.m 0 8

addpath(fullfile(fileparts(fileparts(mfilename('fullpath'))), 'harness'));
bench = open_pmatlab(argv());
ranks = agg_all(put_local(zeros(1, bench.ranks, map([1 bench.ranks], {}, bench.all)), bench.rank));
if ~isequal(ranks, bench.all)
  error('bench:contents', 'first: the ranks came together as %s', mat2str(ranks));
end
if bench.rank == 0
  fprintf('{"library":"Octave %s with distributed arrays","ranks":%d}\n', version, bench.ranks);
end
pMatlab_Finalize;
