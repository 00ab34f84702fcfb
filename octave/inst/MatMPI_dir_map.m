function [dir_pc, dir_unix] = MatMPI_dir_map(machine_db, folder)
% MATMPI_DIR_MAP  The names of a directory on a pc and on unix.
%
%   [dir_pc, dir_unix] = MatMPI_dir_map(machine_db, folder)
%
% machine_db.pc_unix_dir_map is {pc directory, the same directory on unix}; a folder that is in
% neither keeps its name.
%
% Example: [dir_pc, dir_unix] = MatMPI_dir_map(comm.machine_db, pwd);
  dir_pc = folder;
  dir_unix = folder;
  if ~isfield(machine_db, 'pc_unix_dir_map')
    return
  end
  names = machine_db.pc_unix_dir_map;
  if ispc()
    dir_unix = strrep(strrep(folder, names{1}, names{2}), '\', '/');
  else
    dir_pc = strrep(strrep(folder, names{2}, names{1}), '/', '\');
  end

%!test
%! database.pc_unix_dir_map = {'Z:', '/data/me'};
%! [dir_pc, dir_unix] = MatMPI_dir_map(database, '/data/me/data');
%! if ~ispc()
%!   assert({dir_pc, dir_unix}, {'Z:\data', '/data/me/data'});
%! end

%!test
%! [dir_pc, dir_unix] = MatMPI_dir_map(struct(), 'data');
%! assert({dir_pc, dir_unix}, {'data', 'data'});
