% MPI_Probe: Lists the messages that wait to be received, without waiting.
%
%   [ranks, tags] = MPI_Probe (source, tag, comm)
%
% ranks and tags are columns with the source and the tag of each message, in the
% order of arrival, and empty if there is none.  source and tag may be '*'.
%
% The function is in the MEX file of this name; this file holds its help.
