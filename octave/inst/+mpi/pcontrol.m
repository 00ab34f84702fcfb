% PCONTROL  Tells a tool that watches MPI how closely to look; without one it does nothing.
%
%   mpi.pcontrol(level)
%
% Example: mpi.pcontrol(0); warm_up(); mpi.pcontrol(1);
%
% Section 15.2.4 of the MPI standard, MPI_Pcontrol.
%
% The function is in the MEX file of this name; this file holds its help.

%!test
%! mpi.world();
%! mpi.pcontrol(1);
