function program = matmpi_launcher()
% MATMPI_LAUNCHER  The program `postrider`: that of this installation, or the one on the PATH.
  folder = fileparts(which('MPI_Send'));
  program = fullfile(folder, '..', '..', '..', 'bin', 'postrider');
  if ~exist(program, 'file')
    program = 'postrider';
  end
