function lock_file = MatMPI_Lock_file(source, dest, tag, comm)
% MATMPI_LOCK_FILE  The empty file that is written after that of MatMPI_Buffer_file.
%
%   lock_file = MatMPI_Lock_file(source, dest, tag, comm)
  lock_file = matmpi_message_file(source, dest, tag, comm, 'lock');
