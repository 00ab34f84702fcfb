function lock_file = MatMPI_Lock_file(source, dest, tag, comm)
% MATMPI_LOCK_FILE  The empty file that is written after that of MatMPI_Buffer_file.
%
%   lock_file = MatMPI_Lock_file(source, dest, tag, comm)
%
% Example: file = MatMPI_Lock_file(0, 1, 7, comm);
  lock_file = matmpi_message_file(source, dest, tag, comm, 'lock');

%!test
%! MPI_Init;
%! [~, name] = fileparts(MatMPI_Lock_file(0, 0, 'text', MPI_COMM_WORLD));
%! assert(name, 'p0_p0_ttext_lock');
