function r = Pid()
% PID is the rank of this process, from 0 to Np - 1.
%
%   r = Pid
%
% Example: if Pid == 0, disp('begin'); end
%
% See also: Np, pMatlab_Init. From: pMatlab 2.0.15.
world = postrider.pmatlab();
r = world.my_rank;

%!assert(Pid, 0)
