function outputs = results(job, pieces)
% RESULTS  The outputs of a job from its pieces, in whatever order these are.
%
%   outputs = postrider.work.results(job, pieces)
%
% outputs is a cell with one value for each output. The error of an element, the one with the lowest index if there are several, becomes
% an error here, with the same identifier, and with the index in its message.
  raise_problem(pieces);
  values = in_order(job, pieces);
  silent = job.outputs == 0 && (isempty(pieces) || any(cellfun(@(piece) piece.silent, pieces)));
  outputs = cell(1, ~silent * size(values, 1));
  if job.cumulated
    outputs(:) = {[]};
    if ~isempty(values)
      outputs(:) = postrider.work.combine(job.cumulate, values);
    end
    return
  end
  for k = 1:numel(outputs)
    if job.uniform
      outputs{k} = uniform(job, values(k, :));
    else
      outputs{k} = reshape(values(k, :), job.shape);
    end
  end
end

function raise_problem(pieces)
  worst = [];
  for k = 1:numel(pieces)
    problem = pieces{k}.problem;
    if ~isempty(problem) && (isempty(worst) || problem.index < worst.index)
      worst = problem;
    end
  end
  if isempty(worst)
    return
  end
  message = sprintf('%s (element %d)', worst.message, worst.index);
  if isempty(worst.identifier)
    error('%s', message);
  end
  error(worst.identifier, '%s', message);
end

function values = in_order(job, pieces)
  firsts = cellfun(@(piece) piece.first, pieces);
  [~, order] = sort(firsts);
  values = cell(max(job.outputs, 1), 0);
  parts = cellfun(@(piece) piece.values, pieces(order), 'UniformOutput', false);
  if ~isempty(parts)
    values = [parts{:}];
  end
end

function array = uniform(job, values)
  for k = 1:numel(values)
    if ~(isscalar(values{k}) && (isnumeric(values{k}) || islogical(values{k}) || ischar(values{k})))
      error('mpi:argument', '%s: the result of element %d is no scalar; ''UniformOutput'', false gives the results in a cell', job.name, k);
    elseif ~strcmp(class(values{k}), class(values{1}))
      error('mpi:argument', '%s: the result of element %d is a %s, that of the first a %s; ''UniformOutput'', false gives them in a cell', ...
            job.name, k, class(values{k}), class(values{1}));
    end
  end
  if isempty(values)
    array = zeros(job.shape);
  else
    array = reshape([values{:}], job.shape);
  end
end
