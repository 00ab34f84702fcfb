function labSend(varargin)
% LABSEND  Sends a value to one or several workers: labSend(A, destinations, tag).
%
%   labSend(...)
%
% The older name of spmdSend, with the same arguments: see help spmdSend.
%
% See also: spmdSend.
  spmdSend(varargin{:});
end
