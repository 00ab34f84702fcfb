function varargout = RecvMsg(source, tag)
% RECVMSG receives the values that a rank has sent with SendMsg.
%
%   [var1, var2, ...] = RecvMsg(source, tag)
%
% It waits for the message.
%
% Example: [name, matrix] = RecvMsg(0, 7);
%
% See also: SendMsg. From: pMatlab 2.0.15.
world = postrider.pmatlab();
varargout = MPI_Recv(source, tag, world.comm);

%!test
%! SendMsg(0, 7, 'a name', magic(3));
%! [name, matrix] = RecvMsg(0, 7);
%! assert({name, matrix}, {'a name', magic(3)});

%!error RecvMsg(0, 7)
