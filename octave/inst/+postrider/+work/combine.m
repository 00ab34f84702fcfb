function total = combine(f, values)
% COMBINE  Combines the columns of values by a function, from the first on.
%
%   total = postrider.work.combine(f, values)
%
% f is called with the column so far and with the next, element by element, and returns as many values as a column has.
  total = values(:, 1);
  for k = 2:size(values, 2)
    [total{:}] = f(total{:}, values{:, k});
  end
end
