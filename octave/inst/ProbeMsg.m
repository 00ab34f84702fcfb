function [message_rank, numeric_tag, string_tag] = ProbeMsg(source, tag)
% PROBEMSG looks which messages have arrived, without waiting.
%
%   [ranks, numeric_tags] = ProbeMsg(source, tag)
%   [ranks, numeric_tags, string_tags] = ProbeMsg(source, tag)
%
% The arguments and results are those of MPI_Probe.
%
% See also: MPI_Probe, RecvMsg. From: pMatlab 2.0.15.
world = postrider.pmatlab();
if nargout < 3
  [message_rank, numeric_tag] = MPI_Probe(source, tag, world.comm);
else
  [message_rank, numeric_tag, string_tag] = MPI_Probe(source, tag, world.comm);
end
