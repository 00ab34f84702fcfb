function MatMPI_Delete_all()
% MATMPI_DELETE_ALL  Removes the directory MatMPI of this directory, with all that MPI_Run and saved
%                    messages have left.
%
%   MatMPI_Delete_all
%
% Messages that were saved in other directories (machines with a folder, MatMPI_Comm_dir) are
% removed as well. Does nothing when there is no MatMPI. Ranks that run are not ended; MPI_Abort
% does that.
%
% Example: eval(MPI_Run('program', 4, {})); MatMPI_Delete_all;
  file = fullfile('MatMPI', 'MPI_COMM_WORLD.mat');
  if exist(file, 'file')
    found = load(file);
    for folder = unique(found.MPI_COMM_WORLD.machine_db.dir)
      for kind = {'buffer', 'lock'}
        left = dir(fullfile(folder{1}, ['p*_p*_t*_' kind{1} '.mat']));
        cellfun(@(name) delete(fullfile(folder{1}, name)), {left.name});
      end
    end
  end
  matmpi_remove('MatMPI');

%!test
%! folder = tempname();
%! mkdir(folder);
%! before = cd(folder);
%! unwind_protect
%!   mkdir('MatMPI');
%!   fclose(fopen(fullfile('MatMPI', 'program.1.out'), 'w'));
%!   MatMPI_Delete_all;
%!   assert(~exist('MatMPI', 'dir'));
%!   MatMPI_Delete_all;
%! unwind_protect_cleanup
%!   cd(before);
%!   rmdir(folder);
%! end_unwind_protect
