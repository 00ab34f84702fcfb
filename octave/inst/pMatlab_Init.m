% PMATLAB_INIT starts MPI and sets the global variable pMATLAB.
%
%   pMatlab_Init
%
% It is a script, so that pMATLAB and MPI_COMM_WORLD can be seen where it is called. New programs do not need it:
% all functions of distributed arrays start MPI themselves. The fields of pMATLAB:
%   comm         the communicator
%   comm_size    number of ranks (Np)
%   my_rank      the rank of this process (Pid)
%   leader       rank 0, where agg collects
%   host         the rank of the session at the prompt, -1 if all ranks are in the background
%   pList        0:comm_size-1
%   tag_num, tag counter of the collective operations, and the same as text 'tag-17'
%
% Example: pMatlab_Init; D = zeros(4, map([1 Np], {}, 0:Np-1)); pMatlab_Finalize;
%
% From: pMatlab 2.0.15.
global pMATLAB MPI_COMM_WORLD
pMATLAB = postrider.start_pmatlab();

%!test
%! pMatlab_Init;
%! assert([pMATLAB.comm_size, pMATLAB.my_rank], [1 0]);
%! assert(MPI_Comm_size(pMATLAB.comm), 1);
