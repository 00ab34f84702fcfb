function m = gagg_add(m, n, op)
% GAGG_ADD joins two arrays, as gagg does it at each step.
%
%   R = gagg_add(M, N, op)
%
% op is '+' or 'sum', 'min' or 'max', element by element. M and N have the same size; for '+'
% they can be values of any class that has a sum.
%
% Errors: pMatlab:operator if op is none of these.
%
% Example: c = gagg_add(3, 5, 'max');
%
% From: pMatlab 2.0.15.
switch op
  case {'+', 'sum'}
    m = m + n;
  case 'min'
    m = min(m, n);
  case 'max'
    m = max(m, n);
  otherwise
    error('pMatlab:operator', '%s is none of the operators +, sum, min and max', op);
end

%!assert(gagg_add([1 5], [4 2], '+'), [5 7])
%!assert(gagg_add([1 5], [4 2], 'min'), [1 2])
%!assert(gagg_add([1 5], [4 2], 'max'), [4 5])
%!error id=pMatlab:operator gagg_add(1, 2, '-')
