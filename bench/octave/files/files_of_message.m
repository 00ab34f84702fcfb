function [buffer, lock] = files_of_message(source, dest, tag, comm)
% FILES_OF_MESSAGE The names of the two files of a message.
%
%   [buffer, lock] = files_of_message(source, dest, tag, comm)
  name = sprintf('%s/p%d_p%d_t%d_', comm.directory, source, dest, tag);
  buffer = [name 'buffer.mat'];
  lock = [name 'lock.mat'];
end
