function host = matmpi_host()
% MATMPI_HOST  The name of this host.
  if exist('OCTAVE_VERSION', 'builtin')
    host = gethostname();
  else
    [~, host] = system('hostname');
    host = strtrim(host);
  end
