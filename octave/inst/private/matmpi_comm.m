function comm = matmpi_comm(n_proc, machines)
% MATMPI_COMM  The struct that is a communicator, for n_proc ranks on machines (a cell array of text).
%
% Rank r is on machine number machine_id(r + 1); each has a block of ranks, as many as the others or
% one less.
  here = isempty(machines);
  if here
    machines = {matmpi_host()};
  end
  count = numel(machines);
  database = empty_database(count);
  settings = MatMPI_Comm_settings();
  if isfield(settings, 'pc_unix_dir_map')
    database.pc_unix_dir_map = settings.pc_unix_dir_map;
  end
  database.n_proc = floor(n_proc / count) + double(1:count <= mod(n_proc, count));
  database.id_stop = cumsum(database.n_proc);
  database.id_start = database.id_stop - database.n_proc + 1;
  comm = struct('rank', -1, 'size', n_proc, 'save_message_flag', 0, 'group', 0:n_proc - 1, ...
                'machine_id', zeros(1, n_proc), 'host_rank', 0, 'machine_db', [], 'handle', 0);
  for k = 1:count
    [name, type, folder, background] = matmpi_parse_machine(machines{k});
    database.machine{k} = name;
    database.type{k} = settings.type;
    if ~isempty(type)
      database.type{k} = type;
    end
    database.dir{k} = fullfile(pwd, 'MatMPI');
    if ~isempty(folder)
      database.dir{k} = folder;
    end
    database.matlab_command{k} = settings.matlab_command;
    database.remote_launch{k} = settings.remote_launch;
    database.remote_flags{k} = settings.remote_flags;
    comm.machine_id(database.id_start(k):database.id_stop(k)) = k;
    if k == 1 && ~here && (background || ~matmpi_is_here(name))
      comm.host_rank = -1;
    end
  end
  comm.machine_db = database;

function database = empty_database(count)
  database = struct('n_machine', count);
  for field = {'type', 'machine', 'dir', 'matlab_command', 'remote_launch', 'remote_flags'}
    database.(field{1}) = cell(1, count);
  end
