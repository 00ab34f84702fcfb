function job = request(name, outputs, f, arguments, cells)
% REQUEST  What a call of parcellfun, pararrayfun or pool.map asks for, checked.
%
%   job = postrider.work.request(name, outputs, f, arguments, cells)
%
% name is that of the function that was called, for messages; outputs how many results are asked for; f a function handle or a name;
% arguments are the cells (the arrays, if cells is false) whose elements f is called with, and options behind them. job has the fields
%
%   name, outputs, uniform, verbose, chunks    as they were given
%   f, handler, cumulate                       function handles; the last two may be []
%   inputs                                     a cell with a row for each argument of f and a column for each element
%   shape                                      the size of each result
%   cumulated                                  whether there is a function that combines results
%   vectorized                                 whether f takes the elements of a piece at once, as columns
  job = options(name);
  while numel(arguments) > 2 && ischar(arguments{end-1}) && any(strcmpi(arguments{end-1}, names(cells)))
    job = set_option(job, arguments{end-1}, arguments{end});
    arguments(end-1:end) = [];
  end
  job.f = function_of(job, f, 'the function');
  job.cumulated = ~isempty(job.cumulate);
  job.outputs = max(outputs, job.cumulated);
  if isempty(arguments)
    complain('%s: there is nothing to call the function with', name);
  end
  job.shape = size(arguments{1});
  job.inputs = cell(numel(arguments), prod(job.shape));
  for k = 1:numel(arguments)
    job.inputs(k, :) = elements(job, arguments{k}, k, cells);
  end
end

function list = names(cells)
  list = {'UniformOutput', 'ErrorHandler', 'VerboseLevel', 'ChunksPerProc', 'CumFunc'};
  if ~cells
    list{end+1} = 'Vectorized';
  end
end

function job = options(name)
  job = struct('name', name, 'uniform', true, 'handler', [], 'verbose', 0, 'chunks', 0, 'cumulate', [], 'vectorized', false);
end

function job = set_option(job, option, value)
  switch lower(option)
    case 'uniformoutput'
      job.uniform = logical(number(job, option, value));
    case 'errorhandler'
      job.handler = function_of(job, value, option);
    case 'verboselevel'
      job.verbose = number(job, option, value);
    case 'chunksperproc'
      job.chunks = number(job, option, value);
    case 'vectorized'
      job.vectorized = logical(number(job, option, value));
    otherwise
      job.cumulate = function_of(job, value, option);
  end
end

function value = number(job, option, value)
  if ~((isnumeric(value) || islogical(value)) && isscalar(value) && value >= 0 && value == fix(value))
    complain('%s: %s has to be a whole number from 0 on', job.name, option);
  end
  value = double(value);
end

function f = function_of(job, f, what)
  if ischar(f) && ~isempty(f)
    f = str2func(f);
  elseif ~isa(f, 'function_handle')
    complain('%s: %s has to be a function handle or a name, not a %s', job.name, what, class(f));
  end
end

function row = elements(job, array, k, cells)
  if k > 1 && ischar(array) && (cells || ~isequal(size(array), job.shape))
    complain('%s: ''%s'' is no option, which are %s', job.name, array, strjoin(names(cells), ', '));
  elseif cells && ~iscell(array)
    complain('%s: argument %d of the function is a %s where a cell is needed', job.name, k, class(array));
  elseif ~isequal(size(array), job.shape)
    complain('%s: argument %d of the function has another size than the first; all need the same', job.name, k);
  elseif ~cells
    array = num2cell(array);
  end
  row = reshape(array, 1, []);
end

function complain(varargin)
  error('mpi:argument', varargin{:});
end
