function pause2(seconds)
% PAUSE2  Waits, as pause does; MatlabMPI programs call it.
%
%   pause2(seconds)
  pause(seconds);

%!test pause2(0.001);
