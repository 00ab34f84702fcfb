function bounds = pieces(count, processes, chunks)
% PIECES  How the elements 1:count are divided into pieces, each of which is computed by one process at a stretch.
%
%   bounds = postrider.work.pieces(count, processes, chunks)
%
% Row k of bounds is the first and the last element of piece k. There are `chunks` pieces for each of the processes, of sizes that differ
% by one at most; with chunks 0, and where there are fewer elements than that, each element is a piece of its own.
  if chunks == 0
    number = count;
  else
    number = min(count, chunks * processes);
  end
  ends = floor((0:number)' * (count / max(number, 1)) + 0.5);
  bounds = [ends(1:end-1, 1) + 1, ends(2:end, 1)];
end
