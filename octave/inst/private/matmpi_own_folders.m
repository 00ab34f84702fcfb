function folders = matmpi_own_folders()
% MATMPI_OWN_FOLDERS  The directories on the path that do not come with Octave or MATLAB itself.
  if exist('OCTAVE_VERSION', 'builtin')
    home = OCTAVE_HOME();
  else
    home = matlabroot();
  end
  folders = strsplit(path(), pathsep());
  keep = cellfun(@(folder) ~isempty(folder) && folder(1) ~= '.' && isempty(strfind(folder, home)), folders);
  folders = folders(keep);
