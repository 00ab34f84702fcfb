function n_proc = matmpi_ranks(size_of_job)
% MATMPI_RANKS  The number of ranks of a job: a number, or [nodes, processes per node, threads].
  whole = isnumeric(size_of_job) && any(numel(size_of_job) == [1 3]) && all(size_of_job >= 1) && ...
          all(size_of_job == floor(size_of_job));
  if ~whole
    error('Postrider:size', 'the size of a job is the number of ranks or [nodes, processes per node, threads]');
  end
  n_proc = size_of_job(1);
  if numel(size_of_job) == 3
    n_proc = size_of_job(1) * size_of_job(2);
  end
