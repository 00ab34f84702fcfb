function pause2(seconds)
% PAUSE2  Waits, as pause does; MatlabMPI programs call it.
%
%   pause2(seconds)
%
% Example: pause2(0.1);
  pause(seconds);

%!test pause2(0.001);
