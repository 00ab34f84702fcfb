% PMATLAB_FINALIZE ends the part of a program that uses all ranks.
%
%   pMatlab_Finalize
%
% It is a script that calls MPI_Finalize. New programs do not need it.
%
% Example: pMatlab_Init; D = zeros(4, map([1 Np], {}, 0:Np-1)); pMatlab_Finalize;
%
% From: pMatlab 2.0.15.
MPI_Finalize;

%!test    % A session goes on, and may begin again.
%! pMatlab_Init;
%! pMatlab_Finalize;
%! pMatlab_Init;
%! assert(Np, 1);
