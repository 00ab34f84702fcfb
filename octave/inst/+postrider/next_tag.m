function tag = next_tag()
% NEXT_TAG begins a collective operation of pMatlab: moves the counter and returns the tag.
%
%   tag = postrider.next_tag()
%
% Every process moves the counter in every collective operation, whether or not it has a share,
% so that all agree on the tag, a text: numbers are left to the program. The fields tag_num and
% tag of the global variable pMATLAB follow, as programs expect.
global pMATLAB
postrider.pmatlab();
pMATLAB.tag_num = pMATLAB.tag_num + 1;
pMATLAB.tag = sprintf('tag-%d', pMATLAB.tag_num);
tag = pMATLAB.tag;
