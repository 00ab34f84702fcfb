function program = matmpi_launcher()
% MATMPI_LAUNCHER  The program `postrider`: that of this package or installation, or the one on the
%                  PATH.
  folder = fileparts(which('MPI_Send'));
  for place = {fullfile(folder, 'engine'), fullfile(folder, '..', '..', '..')}
    program = fullfile(place{1}, 'bin', 'postrider');
    if exist(program, 'file')
      return
    end
  end
  program = 'postrider';
