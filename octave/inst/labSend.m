function labSend(varargin)
% LABSEND  Sends a value to one or several workers: labSend(A, destinations, tag).
%
%   labSend(...)
%
% The older name of spmdSend, with the same arguments: see help spmdSend.
%
% Example: labSend(rand(3), 2, 7);
%
% See also: spmdSend.
  spmdSend(varargin{:});
end

%!test
%! labSend(int8(5), 1);
%! assert(labReceive(1), int8(5));

%!error id=mpi:argument labSend(5)
