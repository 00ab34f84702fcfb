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
