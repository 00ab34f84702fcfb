function new_comm = MatMPI_Save_messages(old_comm, save_message_flag)
% MATMPI_SAVE_MESSAGES  A communicator whose messages are kept as files as well, to look at them later.
%
%   new_comm = MatMPI_Save_messages(comm, 1)
%   new_comm = MatMPI_Save_messages(comm, 0)
%
% With 1, MPI_Send and MPI_Bcast through new_comm also write what they send to
% p<source>_p<dest>_t<tag>_buffer.mat, as the cell array varargin, and an empty ..._lock.mat, in the
% directory of the destination's machine. Delivery is not concerned.
%
% Example: comm = MatMPI_Save_messages(comm, 1);
  if save_message_flag
    MatMPI_session('look');
  end
  new_comm = old_comm;
  new_comm.save_message_flag = double(save_message_flag);

%!test    % What is sent is received, and kept in a file.
%! MPI_Init;
%! folder = tempname();
%! comm = MatMPI_Save_messages(MatMPI_Comm_dir(MPI_COMM_WORLD, folder), 1);
%! unwind_protect
%!   MPI_Send(0, 7, comm, 'kept');
%!   assert(MPI_Recv(0, 7, comm), 'kept');
%!   found = load(MatMPI_Buffer_file(0, 0, 7, comm));
%!   assert(found.varargin, {'kept'});
%! unwind_protect_cleanup
%!   confirm_recursive_rmdir(false, 'local');
%!   rmdir(folder, 's');
%! end_unwind_protect
%! comm = MatMPI_Save_messages(comm, 0);
%! assert(comm.save_message_flag, 0);
