function [message_rank, numeric_tag, string_tag] = ProbeMsg(source, tag)
% PROBEMSG looks which messages have arrived, without waiting.
%
%   [ranks, numeric_tags] = ProbeMsg(source, tag)
%   [ranks, numeric_tags, string_tags] = ProbeMsg(source, tag)
%
% The arguments and results are those of MPI_Probe.
%
% Example: [rank, tag] = ProbeMsg('*', 7);
%
% See also: MPI_Probe, RecvMsg. From: pMatlab 2.0.15.
world = postrider.pmatlab();
if nargout < 3
  [message_rank, numeric_tag] = MPI_Probe(source, tag, world.comm);
else
  [message_rank, numeric_tag, string_tag] = MPI_Probe(source, tag, world.comm);
end

%!test
%! assert(isempty(ProbeMsg('*', 7)));
%! SendMsg(0, 7, 'x');
%! [ranks, numeric_tags, string_tags] = ProbeMsg('*', 7);
%! assert({ranks, numeric_tags, string_tags}, {0, 7, {'7'}});
%! RecvMsg(0, 7);
