function v = pMatlab_ver()
% PMATLAB_VER is the version of pMatlab whose interface is provided, as text.
%
%   v = pMatlab_ver
%
% Example: disp(pMatlab_ver);
v = '2.0.15';

%!assert(pMatlab_ver(), '2.0.15')
