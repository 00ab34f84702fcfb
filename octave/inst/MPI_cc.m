function compiled = MPI_cc(m_file)
% MPI_CC  Prepares a program to be run by MPI_Run on its own, and returns what to give to it.
%
%   eval(MPI_Run(MPI_cc(m_file), n_proc, machines))
%
% m_file is the name of a script or function without arguments. Octave has no compiler: <m_file>.exe
% is then a script of the shell that runs the program with Octave. In MATLAB it is made by mcc.
% Returns 'compiled <m_file>.exe'.
%
% Example: MPI_cc('program'); eval(MPI_Run('program', 4, {}));
  if ~exist([m_file '.m'], 'file')
    error('Postrider:program', 'there is no %s.m here', m_file);
  end
  if exist('OCTAVE_VERSION', 'builtin')
    settings = MatMPI_Comm_settings();
    matmpi_write([m_file '.exe'], sprintf('#!/bin/sh\nexec %s "$(dirname "$0")/%s.m" "$@"\n', ...
                                          settings.matlab_command, m_file));
    system(['chmod +x ''' m_file '.exe''']);
  else
    mcc('-m', m_file, '-o', [m_file '.exe']);
  end
  compiled = ['compiled ' m_file '.exe'];

%!test
%! folder = tempname();
%! mkdir(folder);
%! before = cd(folder);
%! unwind_protect
%!   fclose(fopen('program.m', 'w'));
%!   assert(MPI_cc('program'), 'compiled program.exe');
%!   assert(exist('program.exe', 'file'), 2);
%! unwind_protect_cleanup
%!   cd(before);
%!   confirm_recursive_rmdir(false, 'local');
%!   rmdir(folder, 's');
%! end_unwind_protect

%!error id=Postrider:program MPI_cc('no_such_program')
