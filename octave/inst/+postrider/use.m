function used = use(names)
% POSTRIDER.USE  Chooses whose names MPI's functions have.
%
%   postrider.use('mpitb')        MPI-TB's: [info stat] = MPI_Recv(buf, src, tag, comm)
%   postrider.use('matlabmpi')    MatlabMPI's, which are in use from the start: [a, b] = MPI_Recv(source, tag, comm)
%   used = postrider.use          which are in use
%
% Names that several toolboxes have are in folders of their own, each with a Contents.m; this puts one of them in front of the path, and takes
% the others off.  A program calls it before it calls MPI.
%
% Error: postrider:use if there are no such names.
  toolbox = fileparts(fileparts(mfilename('fullpath')));
  contents = dir(toolbox);
  folders = {contents([contents.isdir]).name};
  folders = folders(cellfun(@(folder) exist(fullfile(toolbox, folder, 'Contents.m'), 'file') == 2, folders));
  is_used = ismember(fullfile(toolbox, folders), strsplit(path, pathsep));
  if nargin == 0
    used = [folders(is_used), {'matlabmpi'}];
    used = used{1};
    return
  end
  if ~any(strcmp(names, [folders, {'matlabmpi'}]))
    error('postrider:use', 'there are no names %s; there are matlabmpi%s', names, sprintf(', %s', folders{:}));
  end
  for k = find(is_used)
    rmpath(fullfile(toolbox, folders{k}));
  end
  if ~strcmp(names, 'matlabmpi')
    addpath(fullfile(toolbox, names));
  end
