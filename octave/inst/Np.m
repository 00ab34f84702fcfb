function n = Np()
% NP is the number of ranks of the program.
%
%   n = Np
%
% Without a launcher it is 1. MPI is started when needed.
%
% Example: share = 1000 / Np;
%
% See also: Pid, pMatlab_Init. From: pMatlab 2.0.15.
world = postrider.pmatlab();
n = world.comm_size;

%!assert(Np, 1)
