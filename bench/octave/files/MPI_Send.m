function MPI_Send(dest, tag, comm, varargin)
% MPI_SEND Writes the variables into a file for another copy, then says that the file is complete. It does not wait for the receiver.
%
%   MPI_Send(dest, tag, comm, var1, ...)
  [buffer, lock] = files_of_message(comm.rank, dest, tag, comm);
  save(comm.format, buffer, 'varargin');
  fclose(fopen(lock, 'w'));
end
