function settings = MatMPI_Comm_settings()
% MATMPI_COMM_SETTINGS  What MPI_Run starts. A file of this name in front on the path has other
%                       settings.
%
%   settings = MatMPI_Comm_settings()
%
% type              'unix', of machines that do not say otherwise
% matlab_command    the command of the shell that starts Octave or MATLAB and reads its program from
%                   standard input
% remote_launch     the remote shell, and remote_flags its options
% pc_unix_dir_map   {pc directory, the same directory on unix}
%
% Example: s = MatMPI_Comm_settings; s.matlab_command
  settings.type = 'unix';
  if exist('OCTAVE_VERSION', 'builtin')
    program = fullfile(OCTAVE_HOME(), 'bin', 'octave-cli');
    settings.matlab_command = [program ' --quiet --no-history'];
  else
    settings.matlab_command = [fullfile(matlabroot(), 'bin', 'matlab') ' -nodesktop -nodisplay -nosplash'];
  end
  settings.remote_launch = ' ssh ';
  settings.remote_flags = ' -n ';
  settings.pc_unix_dir_map = {'Z:' getenv('HOME')};

%!test
%! settings = MatMPI_Comm_settings();
%! assert(settings.type, 'unix');
%! assert(strtrim(settings.remote_launch), 'ssh');
