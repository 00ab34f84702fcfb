function defscommands = grid_run(m_file, size_of_job)
% GRID_RUN  Runs a program on the processors of the grid; the caller is rank 0.
%
%   eval(grid_run(m_file, n_proc))
%   eval(grid_run(m_file, [nodes, processes, threads]))
%
% m_file       as in MPI_Run; for a pMatlab program use pRUN(m_file, n_proc, 'grid')
% n_proc       number of ranks, this session's included
% nodes, processes, threads    number of hosts, of processes on each, and of threads in each process
%                              (OMP_NUM_THREADS)
%
% Under Slurm (grid_config) the hosts are allocated with salloc, and given back when the ranks end;
% the call waits until there are any. Plain hosts are taken in the order in which they are free.
% Everything else is as in MPI_Run.
%
% Example:
%   eval(grid_run('xbasic', [2 4 1]));
  [machines, options] = matmpi_grid(size_of_job, matmpi_options());
  defscommands = matmpi_run(m_file, matmpi_ranks(size_of_job), machines, options);

%!test
%! folder = tempname();
%! mkdir(folder);
%! file = fopen(fullfile(folder, 'grid_of_one.m'), 'w');
%! fprintf(file, 'size_of_job = MPI_Comm_size(MPI_COMM_WORLD);\n');
%! fclose(file);
%! kept = grid_config();
%! grid_config('machines', {});
%! before = cd(folder);
%! unwind_protect
%!   commands = '';
%!   evalc('commands = grid_run(''grid_of_one'', 1);');
%!   eval(commands);
%!   assert(size_of_job, 1);
%! unwind_protect_cleanup
%!   cd(before);
%!   grid_config('machines', kept.machines, 'kind', kept.kind);
%!   confirm_recursive_rmdir(false, 'local');
%!   rmdir(folder, 's');
%! end_unwind_protect

%!error <the size of a job> grid_run('program', 0)
%!error <the size of a job> grid_run('program', [1 2])
