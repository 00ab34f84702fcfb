function text = matmpi_path_command()
% MATMPI_PATH_COMMAND  A line that gives another process this session's directories on the path.
  folders = cellfun(@(folder) ['''' strrep(folder, '''', '''''') ''''], matmpi_own_folders(), ...
                    'UniformOutput', false);
  text = '';
  if ~isempty(folders)
    text = sprintf('addpath(%s);\n', strjoin(folders, ', '));
  end
