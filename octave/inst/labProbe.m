function [waiting, source, tag] = labProbe(varargin)
% LABPROBE  Whether a value waits to be received: labProbe(source, tag).
%
%   [waiting, source, tag] = labProbe(...)
%
% The older name of spmdProbe, with the same arguments: see help spmdProbe.
%
% See also: spmdProbe.
  [waiting, source, tag] = spmdProbe(varargin{:});
end
