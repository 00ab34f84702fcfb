function MatMPI_Save_copy(dest, tag, comm, varargin)
% MATMPI_SAVE_COPY  Writes a copy of a message to a file; MPI_Send calls it when
%                   MatMPI_Save_messages has asked for that.
%
%   MatMPI_Save_copy(dest, tag, comm, var1, ...)
  buffer_file = MatMPI_Buffer_file(comm.rank, dest, tag, comm);
  folder = fileparts(buffer_file);
  if ~exist(folder, 'dir')
    mkdir(folder);
  end
  if exist('OCTAVE_VERSION', 'builtin')
    save('-binary', buffer_file, 'varargin');
  else
    save(buffer_file, 'varargin');
  end
  matmpi_write(MatMPI_Lock_file(comm.rank, dest, tag, comm), '');

%!test
%! MPI_Init;
%! folder = tempname();
%! comm = MatMPI_Comm_dir(MPI_COMM_WORLD, folder);
%! unwind_protect
%!   MatMPI_Save_copy(0, 7, comm, 'kept', 3);
%!   found = load(MatMPI_Buffer_file(0, 0, 7, comm));
%!   assert(found.varargin, {'kept', 3});
%!   assert(exist(MatMPI_Lock_file(0, 0, 7, comm), 'file'), 2);
%! unwind_protect_cleanup
%!   confirm_recursive_rmdir(false, 'local');
%!   rmdir(folder, 's');
%! end_unwind_protect
