function defscommands = matmpi_run(m_file, n_proc, machines, options)
% MATMPI_RUN  MPI_Run, with the options of matmpi_options.
  machines = check_arguments(m_file, n_proc, machines);
  mkdir('MatMPI');
  comm = MatMPI_Comm_init(n_proc, machines);
  defscommands = '';
  first = 0;
  if comm.host_rank == 0
    first = 1;
    defscommands = around(MatMPI_Commands(m_file, 0, comm), m_file, options);
  end
  if isempty(options.allocation)
    for rank = first:n_proc - 1
      MatMPI_Commands(m_file, rank, comm);
    end
  else
    fprintf('Launching MPI ranks %d to %d on hosts that are being allocated\n', first, n_proc - 1);
  end
  if n_proc == first
    join_as_zero(comm, MatMPI_session('alone'));
    return
  end
  [launcher, offset] = launch(m_file, comm, first, options);
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

% The statements around a program, in the text that starts it; the program has a line of its own.
function text = around(text, m_file, options)
  if ~isempty([options.before options.after])
    lines = strsplit(text, sprintf('\n'));
    own = find(strcmp(strtrim(lines), [m_file ';']), 1);
    if isempty(own)
      return
    end
    lines = [lines(1:own - 1), {options.before}, lines(own), {options.after}, lines(own + 1:end)];
    text = strjoin(lines, sprintf('\n'));
  end

function join_as_zero(comm, handle)
  global MPI_COMM_WORLD
  comm.rank = 0;
  comm.handle = handle;
  MPI_COMM_WORLD = comm;

% Starts the ranks from `first` on. offset is the rank in comm of the launcher's rank 0. Over
% several hosts the launcher has a rank on this one that stands for the session, which is then a
% guest of its host's agent.
function [launcher, offset] = launch(m_file, comm, first, options)
  hosts = list_of_hosts(comm);
  spread = ~isempty(hosts) || ~isempty(options.allocation) || str2double(getenv('SLURM_JOB_NUM_NODES')) > 1;
  stands_in = first == 1 && spread;
  offset = first * ~stands_in;
  write_script(m_file, comm, offset, stands_in, options);
  % Ranks are killed at once: one that waits in MPI does not hear that it is asked to end, and one that
  % has just started would leave an octave-workspace behind.
  words = [{matmpi_launcher(), 'run', '--grace', '0', '-n', sprintf('%d', comm.size - offset)}, hosts, ...
           {'sh', 'MatMPI/MPI_Run.sh'}];
  if ~isempty(options.allocation)
    words = allocated(words, options);
  end
  launcher = MatMPI_session('launch', words, 'MatMPI/MPI_Run.log', double(first == 1));
  matmpi_write(sprintf('MatMPI/pid.%s.%d', matmpi_host(), launcher), '');

% The launcher starts inside the allocation, on this host, and learns there which hosts it has. The
% session counts as a process of the first of them.
function words = allocated(words, options)
  quoted = cellfun(@shell_word, words(2:end), 'UniformOutput', false);
  lines = {'hosts=$(hostname):1', sprintf('ranks=%d', options.processes_per_node - 1), ...
           'for host in $(scontrol show hostnames "$SLURM_JOB_NODELIST"); do', ...
           '    [ $ranks = 0 ] || hosts=$hosts,$host:$ranks', ...
           sprintf('    ranks=%d', options.processes_per_node), 'done', ...
           sprintf('exec ''%s'' %s --hosts "$hosts" %s', words{1}, quoted{1}, strjoin(quoted(2:end), ' '))};
  matmpi_write('MatMPI/allocated.sh', [strjoin(lines, sprintf('\n')) sprintf('\n')]);
  words = [options.allocation, {'sh', 'MatMPI/allocated.sh'}];

% A word that the shell takes as it is.
function word = shell_word(word)
  quote = char(39);
  word = [quote strrep(word, quote, [quote char(92) quote quote]) quote];

function hosts = list_of_hosts(comm)
  database = comm.machine_db;
  used = find(database.n_proc > 0);
  hosts = {};
  if ~all(cellfun(@matmpi_is_here, database.machine(used)))
    % A host that is listed several times in a row is one host.
    starts = find([true, ~strcmp(database.machine(used(2:end)), database.machine(used(1:end - 1)))]);
    ends = [starts(2:end) - 1, numel(used)];
    name = @(from, to) sprintf('%s:%d', database.machine{used(from)}, sum(database.n_proc(used(from:to))));
    each = arrayfun(name, starts, ends, 'UniformOutput', false);
    hosts = {'--hosts', strjoin(each, ',')};
  end

function write_script(m_file, comm, offset, stands_in, options)
  lines = {'# What each rank runs: its output goes into a file of its own.', ...
           sprintf('MATMPI_RANK=$((POSTRIDER_RANK + %d))', offset), 'export MATMPI_RANK'};
  if stands_in
    lines{end + 1} = stand_in(comm);
  end
  lines{end + 1} = sprintf('exec >"MatMPI/%s.$MATMPI_RANK.out" 2>&1', program_of(m_file));
  if options.threads > 0
    lines{end + 1} = sprintf('export OMP_NUM_THREADS=%d', options.threads);
  end
  lines{end + 1} = 'case $MATMPI_RANK in';
  for rank = 0:comm.size - 1
    [~, command] = MatMPI_Commands(m_file, rank, comm, 'quiet');
    if isempty(command)
      continue
    end
    file = sprintf('MatMPI/MatMPIdefs%d.m', rank);
    matmpi_write(file, around(fileread(file), m_file, options));
    lines{end + 1} = sprintf('%d) exec %s ;;', rank, command); %#ok<AGROW>
  end
  lines{end + 1} = 'esac';
  matmpi_write('MatMPI/MPI_Run.sh', [strjoin(lines, sprintf('\n')) sprintf('\n')]);

% What stands for the session does nothing until the session has finished, which it learns by the
% end of its input.
function line = stand_in(comm)
  file = 'MatMPI/stand_in.m';
  matmpi_write(file, [matmpi_preamble() sprintf(['MatMPI_session(''begin'');\n' ...
                      'fread(fopen(''/dev/fd/3'', ''r''), Inf);\nMatMPI_session(''finish'');\nexit(0);\n'])]);
  line = sprintf('[ $MATMPI_RANK != 0 ] || { exec 3<&0; exec %s <%s >MatMPI/stand_in.out 2>&1; }', ...
                 strtrim(comm.machine_db.matlab_command{1}), file);

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
