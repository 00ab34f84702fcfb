function varargout = BcastMsg(source, tag, varargin)
% BCASTMSG sends values from one rank to all.
%
%   [var1, var2, ...] = BcastMsg(source, tag, var1, var2, ...)
%
% All ranks call it, and all have the values of rank source as result. The others need not give
% values.
%
% Example: [n, name] = BcastMsg(0, 7, n, name);
%
% See also: SendMsg, multicast. From: pMatlab 2.0.15.
world = postrider.pmatlab();
varargout = MPI_Bcast(source, tag, world.comm, varargin);

%!test
%! [n, name] = BcastMsg(0, 7, 3, 'three');
%! assert({n, name}, {3, 'three'});
