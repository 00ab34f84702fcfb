function defscommands = MPI_Run(m_file, n_proc, machines)
% MPI_RUN  Runs a program on several processors; the caller is rank 0.
%
%   eval(MPI_Run(m_file, n_proc, machines))
%
% m_file      name of a script or function without arguments, or what MPI_cc returns
% n_proc      number of ranks
% machines    {} for this host, or inside a scheduler's allocation its hosts; otherwise a cell array of texts, one for each host, of the
%             form machine[&][:unix|:pc][:folder]. Ranks are dealt out to them in blocks. Hosts are reached by ssh, and see this
%             directory at the same place. With '&' behind the first machine rank 0 runs in the background as well.
%
% Ranks 1 to n_proc - 1 are started in the background, with this session's directory and path. What rank r writes goes to
% MatMPI/m_file.r.out. The text that is returned makes the caller rank 0 when it is evaluated; it is empty when rank 0 runs in the
% background or on another host.
%
% Errors: 'Postrider:directory' when the directory MatMPI is there (MatMPI_Delete_all removes it); 'Postrider:program' when there is no
% m_file; 'Postrider:start' when ranks cannot be started. A rank that fails ends the other ranks of the background, and what the session
% then waits for is an error that names the rank and the file with its output.
%
% Example:
%   eval(MPI_Run('xbasic', 4, {}));
%   MatMPI_Delete_all;
%
% J. Kepner, S. Ahalt: MatlabMPI (2004).
  if nargin < 3
    machines = {};
  end
  machines = check_arguments(m_file, n_proc, machines);
  mkdir('MatMPI');
  comm = MatMPI_Comm_init(n_proc, machines);
  defscommands = '';
  first = 0;
  if comm.host_rank == 0
    first = 1;
    defscommands = MatMPI_Commands(m_file, 0, comm);
  end
  for rank = first:n_proc - 1
    MatMPI_Commands(m_file, rank, comm);
  end
  if n_proc == first
    join_as_zero(comm, MatMPI_session('alone'));
    return
  end
  [launcher, offset] = launch(m_file, comm, first);
  if first == 1
    port = await_port(launcher, m_file);
    outputs = ['MatMPI/' program_of(m_file) '.'];
    join_as_zero(comm, MatMPI_session('meet', launcher, port, offset, outputs));
  end

function machines = check_arguments(m_file, n_proc, machines)
  if ischar(machines)
    machines = {machines};
  end
  if ~iscell(machines)
    error('Postrider:machine', 'machines is a cell array with the names of hosts, or {}');
  end
  if ~(isnumeric(n_proc) && isscalar(n_proc) && n_proc >= 1 && n_proc == floor(n_proc))
    error('Postrider:size', 'n_proc is the number of ranks, 1 or more');
  end
  if exist('./MatMPI', 'dir')
    error('Postrider:directory', ...
          'the directory MatMPI is there already: rename it, or remove it with MatMPI_Delete_all');
  end
  % A machine that has no name is told before anything is made.
  matmpi_comm(n_proc, machines);
  program = program_of(m_file);
  if ~strcmp(program, m_file)
    program = ['./' program '.exe'];
  end
  if ~any(exist(program) == [2 3 5 6 103])
    error('Postrider:program', 'there is no program ''%s'', neither here nor on the path', program);
  end

% The name of a program, without what MPI_cc puts around it.
function name = program_of(m_file)
  name = regexprep(m_file, '^compiled (.*)\.exe$', '$1');

function join_as_zero(comm, handle)
  global MPI_COMM_WORLD
  comm.rank = 0;
  comm.handle = handle;
  MPI_COMM_WORLD = comm;

% Starts the ranks from `first` on. offset is the rank in comm of the launcher's rank 0. Over several hosts
% the launcher has a rank on this one that stands for the session: a process without MPI that ends with it.
function [launcher, offset] = launch(m_file, comm, first)
  hosts = list_of_hosts(comm);
  spread = ~isempty(hosts) || str2double(getenv('SLURM_JOB_NUM_NODES')) > 1;
  stands_in = first == 1 && spread;
  offset = first * ~stands_in;
  write_script(m_file, comm, offset, stands_in);
  % A rank that waits in MPI does not hear that it is asked to end.
  words = [{matmpi_launcher(), 'run', '--grace', '0.2', '-n', sprintf('%d', comm.size - offset)}, hosts, ...
           {'sh', 'MatMPI/MPI_Run.sh'}];
  launcher = MatMPI_session('launch', words, 'MatMPI/MPI_Run.log', first == 1);
  matmpi_write(sprintf('MatMPI/pid.%s.%d', matmpi_host(), launcher), '');

function hosts = list_of_hosts(comm)
  database = comm.machine_db;
  used = find(database.n_proc > 0);
  hosts = {};
  if ~all(cellfun(@matmpi_is_here, database.machine(used)))
    each = arrayfun(@(k) sprintf('%s:%d', database.machine{k}, database.n_proc(k)), used, ...
                    'UniformOutput', false);
    hosts = {'--hosts', strjoin(each, ',')};
  end

function write_script(m_file, comm, offset, stands_in)
  lines = {'# What each rank runs: its output goes into a file of its own.', ...
           sprintf('MATMPI_RANK=$((POSTRIDER_RANK + %d))', offset), 'export MATMPI_RANK'};
  if stands_in
    lines{end + 1} = '[ $MATMPI_RANK != 0 ] || exec cat >/dev/null';
  end
  lines{end + 1} = sprintf('exec >"MatMPI/%s.$MATMPI_RANK.out" 2>&1', program_of(m_file));
  lines{end + 1} = 'case $MATMPI_RANK in';
  for rank = 0:comm.size - 1
    [~, command] = MatMPI_Commands(m_file, rank, comm, 'quiet');
    lines{end + 1} = sprintf('%d) exec %s ;;', rank, command); %#ok<AGROW>
  end
  lines{end + 1} = 'esac';
  matmpi_write('MatMPI/MPI_Run.sh', [strjoin(lines, sprintf('\n')) sprintf('\n')]);

% The first of the ranks says where it waits.
function port = await_port(launcher, m_file)
  file = fullfile('MatMPI', 'port');
  while ~exist(file, 'file')
    state = MatMPI_session('state', launcher);
    if state(1)
      error('Postrider:start', 'the ranks of %s could not be started (exit code %d): %s%s', m_file, ...
            state(2), fileread('MatMPI/MPI_Run.log'), first_output(m_file));
    end
    pause(0.005);
  end
  port = fileread(file);

% What the rank says that failed first.
function text = first_output(m_file)
  text = '';
  for file = dir(fullfile('MatMPI', [program_of(m_file) '.*.out']))'
    text = [text fileread(fullfile('MatMPI', file.name))]; %#ok<AGROW>
  end
