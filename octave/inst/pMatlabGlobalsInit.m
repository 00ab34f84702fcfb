% PMATLABGLOBALSINIT sets the global variable pMATLAB for one process, without MPI.
%
%   pMatlabGlobalsInit
%
% Programs with maps then run by themselves, with Np = 1. A session without a launcher does the
% same without this script.
%
% Example: pMatlabGlobalsInit;
%
% From: pMatlab 2.0.15.
global pMATLAB
pMATLAB = struct('comm', struct('rank', 0, 'size', 1, 'save_message_flag', 0, 'group', 0, 'machine_id', 0, ...
  'host_rank', 0), 'comm_size', 1, 'my_rank', 0, 'leader', 0, 'host', 0, 'pList', 0, 'tag_num', 0, 'tag', 'tag-0');

%!test
%! global pMATLAB
%! before = pMATLAB;
%! pMatlabGlobalsInit;
%! assert([pMATLAB.comm_size, pMATLAB.my_rank, pMATLAB.leader], [1 0 0]);
%! pMATLAB = before;
