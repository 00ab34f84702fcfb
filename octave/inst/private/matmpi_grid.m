function [machines, options] = matmpi_grid(size_of_job, options)
% MATMPI_GRID  Where a job of grid_run runs: the machines for matmpi_run, and its options.
%
% Under Slurm the launcher is started in an allocation of its own, which ends with it. On plain
% hosts the freest ones are taken; the first machine is this host, for the session.
  config = grid_config();
  n_proc = matmpi_ranks(size_of_job);
  if numel(size_of_job) == 3
    options.threads = size_of_job(3);
  end
  machines = {};
  if strcmp(config.kind, 'slurm')
    [nodes, each] = shape_of(size_of_job, n_proc);
    options.processes_per_node = each;
    options.allocation = [{'salloc', '--quiet', '--job-name=MatMPI', sprintf('--nodes=%d', nodes), ...
                           sprintf('--ntasks-per-node=%d', each), ...
                           sprintf('--cpus-per-task=%d', max(1, options.threads))}, config.options];
    if ~isempty(config.partition)
      options.allocation{end + 1} = ['--partition=' config.partition];
    end
    return
  end
  [~, hosts] = grid_status();
  if isempty(hosts)
    error('Postrider:grid', 'none of the hosts answers: %s', strjoin(config.machines, ', '));
  end
  machines = [{matmpi_host()}, deal_out(hosts, n_proc - 1, size_of_job)];

% Nodes and processes on each; a bare number of ranks gets as many nodes as the partition's nodes
% need for it.
function [nodes, each] = shape_of(size_of_job, n_proc)
  if numel(size_of_job) == 3
    nodes = size_of_job(1);
    each = size_of_job(2);
    return
  end
  [~, hosts] = grid_status();
  each = min([n_proc, max([1, hosts.processors])]);
  nodes = ceil(n_proc / each);
  each = ceil(n_proc / nodes);

% The name of the host of each rank behind the session's, the freest hosts first.
function names = deal_out(hosts, n_proc, size_of_job)
  [~, order] = sort([hosts.free], 'descend');
  hosts = hosts(order);
  rooms = max(1, floor([hosts.free]));
  if numel(size_of_job) == 3
    hosts = hosts(1:min(size_of_job(1), end));
    rooms = repmat(size_of_job(2), 1, numel(hosts));
  end
  rounds = ceil(n_proc / sum(rooms));
  names = {};
  for k = 1:numel(hosts)
    names = [names, repmat({hosts(k).name}, 1, rooms(k) * rounds)]; %#ok<AGROW>
  end
  names = names(1:n_proc);
