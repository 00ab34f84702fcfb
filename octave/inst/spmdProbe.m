function [waiting, source, tag] = spmdProbe(source, tag)
% SPMDPROBE  Whether a value waits to be received; returns at once.
%
%   waiting = spmdProbe
%   waiting = spmdProbe(source)
%   waiting = spmdProbe(source, tag)
%   [waiting, source, tag] = spmdProbe(...)
%
% source is the index of a worker, or 'any' (also '' or []); without a tag, or with [], every tag matches. waiting is true when
% spmdReceive with the same arguments would not have to wait; source and tag are those of the value, and [] when there is none.
%
% Errors: mpi:rank for an index that is no worker's.
%
% Example:
%   while ~spmdProbe('any', 1), compute(); end
%
% labProbe is the older name. In the standard: MPI_Iprobe, section 3.8.1.
%
% See also: spmdReceive.
  if nargin < 1
    source = [];
  end
  if nargin < 2
    tag = [];
  end
  c = mpi.world();
  [waiting, status] = c.iprobe(spmd_source('spmdProbe', source), tag);
  source = [];
  tag = [];
  if waiting && nargout > 1
    source = status.source + 1;
    tag = status.tag;
  end
end

%!test
%! assert(spmdProbe(), false);
%! spmdSend('x', 1, 3);
%! [waiting, source, tag] = spmdProbe('any', 3);
%! assert([waiting, source, tag], [1 1 3]);
%! spmdReceive();

%!error id=mpi:rank spmdProbe(2)
