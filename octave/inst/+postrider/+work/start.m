function inter = start(info)
% START  Starts one worker, and gives the communicator to it.
  toolbox = strrep(fileparts(which('postrider_call')), '''', '''''');
  code = ['addpath(''' toolbox '''); postrider.work.serve();'];
  if exist('OCTAVE_VERSION', 'builtin')
    program = fullfile(OCTAVE_HOME(), 'bin', 'octave-cli');
    arguments = {'--quiet', '--norc', '--no-history', '--eval', code};
  else
    program = fullfile(matlabroot(), 'bin', 'matlab');
    arguments = {'-batch', code};
  end
  self = mpi.self();
  inter = self.spawn(program, arguments, 1, info);
  inter.send(struct('path', path(), 'folder', pwd()), 0);
end
