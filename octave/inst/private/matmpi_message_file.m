function file = matmpi_message_file(source, dest, tag, comm, kind)
% MATMPI_MESSAGE_FILE  The name of the file of a message, in the directory of the destination's machine.
  folder = comm.machine_db.dir{comm.machine_id(dest + 1)};
  file = [folder '/p' num2str(source) '_p' num2str(dest) '_t' num2str(tag) '_' kind '.mat'];
