function front = alone
% ALONE As many Octaves as there would be ranks, which send nothing: their start is compared with.
%
%   front = alone
%
% bench/octave/several tells each of them its number.
  front.open = @open;
  front.close = @close;
end

function [comm, rank, ranks] = open
  comm = [];
  rank = str2double(getenv('BENCH_RANK'));
  ranks = str2double(getenv('BENCH_SIZE'));
end

function close
end
