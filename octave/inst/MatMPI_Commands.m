function [defscommands, unix_command] = MatMPI_Commands(m_file, rank, comm, quiet)
% MATMPI_COMMANDS  What starts a rank of MPI_Run.
%
%   [defscommands, unix_command] = MatMPI_Commands(m_file, rank, comm)
%
% m_file, comm    as in MPI_Run; comm is what MatMPI_Comm_init returns
% rank            from 0 to comm.size - 1
%
% For the rank of the session, defscommands is what the session evaluates, and unix_command is
% empty. For the others, unix_command is a command of the shell, which reads its program from
% MatMPI/MatMPIdefs<rank>.m; this file is written. Says where the rank will run, unless there is a
% fourth argument.
%
% Example: [defs, command] = MatMPI_Commands('program', 0, comm);
  database = comm.machine_db;
  machine = comm.machine_id(rank + 1);
  program = regexprep(m_file, '^compiled (.*)\.exe$', './$1.exe');
  defscommands = '';
  unix_command = '';
  if nargin < 4
    fprintf('Launching MPI rank: %d on: %s\n', rank, database.machine{machine});
  end
  is_compiled = ~strcmp(program, m_file);
  if rank == comm.host_rank
    defscommands = sprintf('global MPI_COMM_WORLD;\n%s;\n', as_command(program, is_compiled));
    return
  end
  file = sprintf('MatMPI/MatMPIdefs%d.m', rank);
  matmpi_write(file, program_of_rank(as_command(program, is_compiled), comm));
  unix_command = sprintf('%s <%s', strtrim(database.matlab_command{machine}), file);

function text = as_command(program, is_compiled)
  text = program;
  if is_compiled
    text = sprintf('run(''%s'')', regexprep(program, '\.exe$', '.m'));
  end

function text = program_of_rank(command, comm)
  lines = {sprintf('MatMPI_Join(%d);', comm.host_rank), 'global MPI_COMM_WORLD', 'try', ...
           ['  ' command ';'], 'catch MatMPI_problem', '  MatMPI_Failed(MatMPI_problem);', 'end'};
  text = [matmpi_preamble() strjoin(lines, sprintf('\n')) sprintf('\n')];

%!test    % What the session evaluates as rank 0 of a job.
%! MPI_Init;
%! comm = MPI_COMM_WORLD;
%! comm.host_rank = 0;
%! [defscommands, unix_command] = MatMPI_Commands('program', 0, comm, 'quiet');
%! assert(defscommands, sprintf('global MPI_COMM_WORLD;\nprogram;\n'));
%! assert(unix_command, '');
