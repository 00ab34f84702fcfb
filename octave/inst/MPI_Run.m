function defscommands = MPI_Run(m_file, n_proc, machines)
% MPI_RUN  Runs a program on several processors; the caller is rank 0.
%
%   eval(MPI_Run(m_file, n_proc, machines))
%
% m_file      name of a script or function without arguments, or what MPI_cc returns
% n_proc      number of ranks
% machines    {} for this host, or inside a scheduler's allocation its hosts; otherwise a cell array
%             of texts, one for each host, of the form machine[&][:unix|:pc][:folder]. Ranks are
%             dealt out to them in blocks. Hosts are reached by ssh, and see this directory at the
%             same place. With '&' behind the first machine rank 0 runs in the background as well.
%
% Ranks 1 to n_proc - 1 are started in the background, with this session's directory and path. What
% rank r writes goes to MatMPI/m_file.r.out. The text that is returned makes the caller rank 0 when
% it is evaluated; it is empty when rank 0 runs in the background or on another host.
%
% Errors: 'Postrider:directory' when the directory MatMPI is there (MatMPI_Delete_all removes it);
% 'Postrider:program' when there is no m_file; 'Postrider:start' when ranks cannot be started. A
% rank that fails ends the other ranks of the background, and what the session then waits for is an
% error that names the rank and the file with its output.
%
% Example:
%   eval(MPI_Run('xbasic', 4, {}));
%   MatMPI_Delete_all;
%
% J. Kepner, S. Ahalt: MatlabMPI (2004).
  if nargin < 3
    machines = {};
  end
  defscommands = matmpi_run(m_file, n_proc, machines, matmpi_options());

%!test
%! folder = tempname();
%! mkdir(folder);
%! file = fopen(fullfile(folder, 'run_of_one.m'), 'w');
%! fprintf(file, 'size_of_job = MPI_Comm_size(MPI_COMM_WORLD);\n');
%! fclose(file);
%! before = cd(folder);
%! unwind_protect
%!   commands = '';
%!   evalc('commands = MPI_Run(''run_of_one'', 1, {});');
%!   eval(commands);
%!   assert(size_of_job, 1);
%!   fail('MPI_Run(''run_of_one'', 1, {})', 'MatMPI is there');
%!   MatMPI_Delete_all;
%!   fail('MPI_Run(''no_such_program'', 1, {})', 'no_such_program');
%! unwind_protect_cleanup
%!   cd(before);
%!   confirm_recursive_rmdir(false, 'local');
%!   rmdir(folder, 's');
%! end_unwind_protect
