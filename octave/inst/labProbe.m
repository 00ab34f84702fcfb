function [waiting, source, tag] = labProbe(varargin)
% LABPROBE  Whether a value waits to be received: labProbe(source, tag).
%
%   [waiting, source, tag] = labProbe(...)
%
% The older name of spmdProbe, with the same arguments: see help spmdProbe.
%
% Example: if labProbe('any', 7), x = labReceive('any', 7); end
%
% See also: spmdProbe.
  [waiting, source, tag] = spmdProbe(varargin{:});
end

%!test
%! assert(labProbe(), false);
%! labSend('x', 1, 3);
%! [waiting, source, tag] = labProbe('any', 3);
%! assert([waiting, source, tag], [1 1 3]);
%! labReceive();
