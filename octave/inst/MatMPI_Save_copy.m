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
