function new_comm = MatMPI_Comm_dir(old_comm, folder)
% MATMPI_COMM_DIR  A communicator whose saved messages go to another directory.
%
%   new_comm = MatMPI_Comm_dir(comm, folder)
%
% In MatlabMPI the messages themselves travel through this directory. Here they do not travel as
% files; only copies that MatMPI_Save_messages asks for are written there. The other fields, and the
% ranks, stay the same.
%
% Example: comm = MatMPI_Comm_dir(comm, tempdir);
  new_comm = old_comm;
  new_comm.machine_db.dir(:) = {folder};

%!test
%! MPI_Init;
%! comm = MatMPI_Comm_dir(MPI_COMM_WORLD, 'elsewhere');
%! assert(fileparts(MatMPI_Buffer_file(0, 0, 7, comm)), 'elsewhere');
