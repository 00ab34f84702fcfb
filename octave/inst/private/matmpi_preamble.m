function text = matmpi_preamble()
% MATMPI_PREAMBLE  The first lines of a rank's program: this session's directories on the path, and
%                  no octave-workspace at its end.
  text = '';
  if exist('OCTAVE_VERSION', 'builtin')
    text = sprintf('%s_dumps_octave_core(false);\n', 'crash', 'sighup', 'sigterm');
  end
  folders = cellfun(@(folder) ['''' strrep(folder, '''', '''''') ''''], matmpi_own_folders(), ...
                    'UniformOutput', false);
  if ~isempty(folders)
    text = sprintf('%saddpath(%s);\n', text, strjoin(folders, ', '));
  end
