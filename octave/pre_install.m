function pre_install(varargin)
% PRE_INSTALL  What `pkg install` calls before it copies the files.
%
% The package brings a compiled MEX file.  Where that does not load, of another Octave or another processor, it is
% built anew, which needs mkoctfile and compilers for C and C++.
  here = fileparts(mfilename('fullpath'));
  addpath(fullfile(here, 'inst'));
  done = onCleanup(@() rmpath(fullfile(here, 'inst')));
  try
    postrider_call('state');
    return
  catch problem
    fprintf('postrider: the compiled file does not load here (%s); it is built anew\n', problem.message);
  end
  clear('postrider_call');
  [status, output] = system(sprintf('sh "%s" "%s" "%s" 2>&1', fullfile(here, 'build'), fullfile(here, 'inst'), ...
                                    fullfile(here, 'inst', 'engine')));
  if status ~= 0
    error('postrider:build', ['postrider: the MEX file cannot be built: %s\n' ...
          'It needs mkoctfile (Debian: octave-dev, Fedora: octave-devel) and compilers for C and C++.'], output);
  end
end
