function SendMsg(dest, tag, varargin)
% SENDMSG sends values to a rank, or to several.
%
%   SendMsg(dest, tag, var1, var2, ...)
%
% dest is a rank or a list of ranks. It returns at once. RecvMsg receives the values with the
% same tag; MPI_Recv would receive one cell with them.
%
% Example: SendMsg(1, 7, 'a name', rand(3));
%
% See also: RecvMsg, BcastMsg, ProbeMsg. From: pMatlab 2.0.15.
world = postrider.pmatlab();
for rank = reshape(dest, 1, [])
  MPI_Send(rank, tag, world.comm, varargin);
end

%!test    % To a list of ranks, here the same one twice.
%! SendMsg([0 0], 7, 'to all of the list');
%! assert(RecvMsg(0, 7), 'to all of the list');
%! assert(RecvMsg(0, 7), 'to all of the list');

%!error SendMsg(5, 7, 1)
