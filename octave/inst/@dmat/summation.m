function total = summation(total, varargin)
% SUMMATION: the sum of distributed arrays of one size, with the map of the first argument.
%
%   S = summation(S, {D1, D2, ...})
%   S = summation(S, D1, D2, ...)
%
% The values of S before do not count, only its map and class.
%
% From: pMatlab 2.0.15.
terms = varargin;
if iscell(terms{1})
  terms = terms{1};
end
while numel(terms) > 1
  next = cell(1, ceil(numel(terms) / 2));
  for k = 1:numel(next)
    next{k} = terms{2 * k - 1};
    if 2 * k <= numel(terms)
      next{k} = next{k} + terms{2 * k};
    end
  end
  terms = next;
end
total = assign(total, {':'}, terms{1});
