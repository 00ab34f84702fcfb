function p = pmatlab()
% PMATLAB returns what pMatlab's functions know of this process, and starts MPI when needed.
%
%   p = postrider.pmatlab()
%
% p is the value of the global variable pMATLAB, which pMatlab_Init describes. After clear all
% it is made anew, so that programs need no initialization at all.
global pMATLAB
if ~isstruct(pMATLAB) || ~isfield(pMATLAB, 'tag_num')
  pMATLAB = postrider.start_pmatlab();
end
p = pMATLAB;
