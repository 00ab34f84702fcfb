function defscommands = pRUN(m_file, n_proc, machines)
% PRUN  Runs a pMatlab program on several processors; the caller is rank 0.
%
%   eval(pRUN(m_file, n_proc, machines))
%
% m_file      name of a script; Np and Pid are set in it, and pMatlab_Init and pMatlab_Finalize are
%             called around it
% n_proc      number of ranks, or [nodes, processes per node, threads per process]; with 0 the
%             script runs alone, without MPI
% machines    as in MPI_Run, or 'grid' for the hosts of grid_run
%
% Ranks that an earlier call has started here are ended first (MPI_Abort), and the directory MatMPI
% is removed (MatMPI_Delete_all).
%
% Example:
%   eval(pRUN('pStream', 4, {}));
%
% J. Kepner: Parallel MATLAB for Multicore and Multinode Computers (2009), chapter 2.
  if nargin < 3
    machines = {};
  end
  if isequal(n_proc, 0)
    defscommands = sprintf('pMatlabGlobalsInit;\n%s;\n', m_file);
    return
  end
  evalc('MPI_Abort');
  MatMPI_Delete_all();
  options = matmpi_options();
  options.before = 'pMatlab_Init;';
  options.after = 'pMatlab_Finalize;';
  if isequal(machines, 'grid')
    [machines, options] = matmpi_grid(n_proc, options);
  elseif numel(n_proc) == 3
    options.threads = n_proc(3);
  end
  n_proc = matmpi_ranks(n_proc);
  fprintf('Submitting %s on %d processor(s).\n', m_file, n_proc);
  defscommands = sprintf('pMatlabGlobalsInit;\n%s', matmpi_run(m_file, n_proc, machines, options));

%!assert(pRUN('program', 0), sprintf('pMatlabGlobalsInit;\nprogram;\n'))

%!test
%! folder = tempname();
%! mkdir(folder);
%! file = fopen(fullfile(folder, 'pmatlab_of_one.m'), 'w');
%! fprintf(file, 'total = sum(agg(ones(3, map([1 Np], {}, 0:Np-1)))(:));\n');
%! fclose(file);
%! before = cd(folder);
%! unwind_protect
%!   commands = '';
%!   evalc('commands = pRUN(''pmatlab_of_one'', 1, {});');
%!   eval(commands);
%!   assert(total, 9);
%!   fail('pRUN(''pmatlab_of_one'', 1.5, {})', 'the size of a job');
%! unwind_protect_cleanup
%!   cd(before);
%!   confirm_recursive_rmdir(false, 'local');
%!   rmdir(folder, 's');
%! end_unwind_protect

%!demo
%! % A program is a file in this directory; its ranks are started in the background, and
%! % what each writes is in MatMPI/program.<rank>.out.
%! text = pRUN('program', 0)    % 0: without MPI; eval(pRUN('program', 4, {})) starts 4
