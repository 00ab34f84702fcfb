function [free, hosts] = grid_status()
% GRID_STATUS  How many processors are free.
%
%   grid_status
%   [free, hosts] = grid_status()
%
% free    number of processors that nobody uses
% hosts   struct array with the fields name, processors, free
%
% Under Slurm this is what sinfo says of each node. On plain hosts it is the number of processors
% without the load of the last minute; a host that does not answer within 10 seconds is left out.
% Without an output a table is shown. grid_config says which hosts.
%
% Example:
%   eval(pRUN('pStream', min(8, grid_status()), 'grid'));
  config = grid_config();
  if strcmp(config.kind, 'slurm')
    hosts = of_slurm(config.partition);
  else
    hosts = of_hosts(config.machines);
  end
  free = sum([0, hosts.free]);
  if nargout == 0
    for host = hosts
      fprintf('%-20s %4d of %4d processors free\n', host.name, host.free, host.processors);
    end
    fprintf('%d processors free\n', free);
    clear free
  end

% sinfo shows the processors of a node as allocated/idle/other/total.
function hosts = of_slurm(partition)
  command = 'sinfo --noheader --Node --format="%N %C"';
  if ~isempty(partition)
    command = [command ' --partition=' partition];
  end
  [code, text] = system(command);
  if code ~= 0
    error('Postrider:grid', 'sinfo has failed: %s', text);
  end
  found = regexp(text, '(\S+) \d+/(\d+)/\d+/(\d+)', 'tokens');
  hosts = struct('name', {}, 'processors', {}, 'free', {});
  for k = 1:numel(found)
    % A node is listed once for each of its partitions.
    if ~any(strcmp(found{k}{1}, {hosts.name}))
      hosts(end + 1) = struct('name', found{k}{1}, 'processors', str2double(found{k}{3}), ...
                              'free', str2double(found{k}{2})); %#ok<AGROW>
    end
  end

% All are asked at the same time.
function hosts = of_hosts(machines)
  if isempty(machines)
    machines = {matmpi_host()};
  end
  ask = 'echo $(nproc) $(cut -d" " -f1 /proc/loadavg)';
  settings = MatMPI_Comm_settings();
  command = '';
  for k = 1:numel(machines)
    asked = ask;
    if ~matmpi_is_here(machines{k})
      asked = sprintf('timeout 10 %s %s %s ''%s''', settings.remote_launch, settings.remote_flags, machines{k}, ask);
    end
    command = sprintf('%s(echo %d $(%s)) & ', command, k, asked);
  end
  [~, text] = system([command 'wait']);
  found = sortrows(cellfun(@str2double, cat(1, cell(0, 3), of_lines(text))));
  hosts = struct('name', {}, 'processors', {}, 'free', {});
  for row = found'
    hosts(end + 1) = struct('name', machines{row(1)}, 'processors', row(2), ...
                            'free', max(0, row(2) - round(row(3)))); %#ok<AGROW>
  end

function rows = of_lines(text)
  found = regexp(text, '^(\d+) (\d+) ([\d.]+)$', 'tokens', 'lineanchors');
  rows = cat(1, found{:});

%!test    % Of this host.
%! before = grid_config();
%! grid_config('machines', {});
%! unwind_protect
%!   [free, hosts] = grid_status();
%!   assert(numel(hosts), 1);
%!   assert(free >= 0 && free <= hosts.processors);
%! unwind_protect_cleanup
%!   grid_config('machines', before.machines, 'kind', before.kind);
%! end_unwind_protect
