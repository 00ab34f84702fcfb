% PMATLAB_INIT starts MPI and sets the global variable pMATLAB.
%
%   pMatlab_Init
%
% It is a script, so that pMATLAB can be seen where it is called. New programs do not need it:
% all functions of distributed arrays start MPI themselves. The fields of pMATLAB:
%   comm         the communicator
%   comm_size    number of ranks (Np)
%   my_rank      the rank of this process (Pid)
%   leader       rank 0, where agg collects
%   host         the rank of the session at the prompt
%   pList        0:comm_size-1
%   tag_num, tag counter of the collective operations, and the same as text 'tag-17'
%
% From: pMatlab 2.0.15.
global pMATLAB
pMATLAB = postrider.start_pmatlab();
