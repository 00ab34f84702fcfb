function whole = agg(x)
% AGG collects a distributed array on the leader.
%
%   A = agg(D)
%
% On the leader (rank 0) A is the whole plain array, of the class of the parts; on the others
% it is their part. All ranks call it. Each part travels once, straight to the leader, which
% has no part of its own if the map says so. A plain array is returned as it is.
%
% Errors: pMatlab:size if a part does not have the size that the map gives it; in a job of one
% rank the part is returned as it is.
%
% Example: A = agg(D); if Pid == 0, disp(sum(A(:))); end
%
% See also: agg_all, gagg, map. From: pMatlab 2.0.15.
whole = x;

%!test
%! A = magic(4);
%! D = remap(A, map([1 Np], {}, 0:Np-1));
%! assert(agg(D), A);
%! assert(agg(A), A);

%!test    % Each rank changes its part, the leader collects.
%! D = put_local(zeros(4, map([1 Np], 'c', 0:Np-1)), 2 * ones(4));
%! assert(agg(D), 2 * ones(4));

%!demo
%! D = zeros(4, 6, map([1 Np], {}, 0:Np-1));    % blocks of columns
%! columns = global_ind(D, 2);
%! D = put_local(D, repmat(columns, 4, 1));     % each rank fills its part
%! A = agg(D)                                   % whole on rank 0
