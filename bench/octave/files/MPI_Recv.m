function varargout = MPI_Recv(source, tag, comm)
% MPI_RECV Waits for the file of a message, loads it and deletes it.
%
%   [var1, ...] = MPI_Recv(source, tag, comm)
%
% It waits by opening the lock again and again, without a pause, as the original does.
  [buffer, lock] = files_of_message(source, comm.rank, tag, comm);
  file = fopen(lock, 'r');
  while file == -1
    file = fopen(lock, 'r');
  end
  fclose(file);
  message = load(buffer);
  delete(buffer);
  delete(lock);
  varargout = message.varargin;
end
