function [A, source, tag] = labReceive(varargin)
% LABRECEIVE  Waits for a value from another worker: labReceive(source, tag).
%
%   [A, source, tag] = labReceive(...)
%
% The older name of spmdReceive, with the same arguments: see help spmdReceive.
%
% Example: x = labReceive(1, 7);
%
% See also: spmdReceive.
  [A, source, tag] = spmdReceive(varargin{:});
end

%!test
%! labSend({'a'}, 1, 3);
%! [A, source, tag] = labReceive('any', 3);
%! assert({A, source, tag}, {{'a'}, 1, 3});
