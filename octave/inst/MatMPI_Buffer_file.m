function buffer_file = MatMPI_Buffer_file(source, dest, tag, comm)
% MATMPI_BUFFER_FILE  The file in which MatMPI_Save_messages keeps a message.
%
%   buffer_file = MatMPI_Buffer_file(source, dest, tag, comm)
%
% source and dest are ranks of comm or '*', tag is a number or a text.
%
% Example: file = MatMPI_Buffer_file(0, 1, 7, comm);
  buffer_file = matmpi_message_file(source, dest, tag, comm, 'buffer');

%!test
%! MPI_Init;
%! [~, name] = fileparts(MatMPI_Buffer_file(0, 0, 7, MPI_COMM_WORLD));
%! assert(name, 'p0_p0_t7_buffer');
