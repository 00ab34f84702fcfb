function piece = evaluate(task, first, inputs)
% EVALUATE  Computes one piece: calls a function once for each of some elements.
%
%   piece = postrider.work.evaluate(task, first, inputs)
%
% task has the fields f, outputs, handler, cumulated, cumulate and vectorized of a job; inputs a column for each element, of which the first has the number
% `first`. piece has the fields
%
%   first, last    its elements
%   values         a row for each output and a column for each element (for all, if there is a function that combines them)
%   silent         whether no output was asked for and an element gave none
%   problem        [], or a struct with the message, the identifier and the index of the element that failed; the rest was left out
  count = size(inputs, 2);
  piece = struct('first', first, 'last', first + count - 1, 'values', {cell(max(task.outputs, 1), count)}, 'silent', false, 'problem', []);
  if task.vectorized
    piece = at_once(task, piece, inputs);
    return
  end
  for k = 1:count
    try
      [values, silent] = compute(task, first + k - 1, inputs(:, k));
    catch problem
      piece.problem = postrider.work.problem(problem, first + k - 1);
      piece.values = {};
      return
    end
    piece.values(:, k) = values;
    piece.silent = piece.silent || silent;
  end
  if task.cumulated && count > 1
    try
      piece.values = postrider.work.combine(task.cumulate, piece.values);
    catch problem
      piece.problem = postrider.work.problem(problem, piece.last);
      piece.values = {};
    end
  end
end

function piece = at_once(task, piece, inputs)
% One call for all elements: a column for each argument, and of each result an element for each, or one value that combines them.
  count = size(inputs, 2);
  columns = cell(size(inputs, 1), 1);
  for k = 1:numel(columns)
    columns{k} = vertcat(inputs{k, :});
  end
  try
    [values, piece.silent] = compute(task, piece.first, columns);
    if task.cumulated
      piece.values = values;
      return
    end
    for k = 1:numel(values) * ~piece.silent
      if numel(values{k}) ~= count
        error('mpi:argument', 'with ''Vectorized'' the function gives as many elements as it gets: %d, not %d', count, numel(values{k}));
      end
      piece.values(k, :) = num2cell(reshape(values{k}, 1, []));
    end
  catch problem
    piece.problem = postrider.work.problem(problem, piece.first);
    piece.values = {};
  end
end

function [values, silent] = compute(task, index, inputs)
  try
    [values, silent] = call(task.f, task.outputs, inputs);
  catch problem
    if isempty(task.handler)
      rethrow(problem);
    end
    [values, silent] = call(task.handler, task.outputs, [{postrider.work.problem(problem, index)}; inputs]);
  end
end

function [values, silent] = call(f, outputs, inputs)
  silent = false;
  if outputs > 0
    values = cell(outputs, 1);
    [values{:}] = f(inputs{:});
  else
    % A function that returns something leaves it in ans.
    clear ans
    f(inputs{:});
    silent = exist('ans', 'var') ~= 1;
    values = {[]};
    if ~silent
      values = {ans};
    end
  end
  % A result that cannot be sent is a failure of this element, which its process can report, and not of a later collective call.
  for k = 1:numel(values)
    postrider_call('checkValue', values{k});
  end
end
