function buffer_file = MatMPI_Buffer_file(source, dest, tag, comm)
% MATMPI_BUFFER_FILE  The file in which MatMPI_Save_messages keeps a message.
%
%   buffer_file = MatMPI_Buffer_file(source, dest, tag, comm)
%
% source and dest are ranks of comm or '*', tag is a number or a text.
  buffer_file = matmpi_message_file(source, dest, tag, comm, 'buffer');
