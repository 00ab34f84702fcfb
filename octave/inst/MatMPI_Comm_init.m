function comm = MatMPI_Comm_init(n_proc, machines)
% MATMPI_COMM_INIT  Makes the communicator of n_proc ranks on machines, and writes it to
%                   MatMPI/MPI_COMM_WORLD.mat.
%
%   comm = MatMPI_Comm_init(n_proc, machines)
%
% Arguments as in MPI_Run, which calls this. Fields of comm: rank (-1, no rank yet), size,
% save_message_flag, group (0 to n_proc - 1), machine_id (for each rank the number of its machine,
% from 1), host_rank, machine_db with a column for each machine, and handle, the number that MPI has
% for it, 0 before the job runs.
%
% Example: comm = MatMPI_Comm_init(4, {});
  comm = matmpi_comm(n_proc, machines);
  MPI_COMM_WORLD = comm;
  save(fullfile('MatMPI', 'MPI_COMM_WORLD.mat'), 'MPI_COMM_WORLD');

%!test
%! folder = tempname();
%! mkdir(folder);
%! before = cd(folder);
%! unwind_protect
%!   mkdir('MatMPI');
%!   comm = MatMPI_Comm_init(3, {});
%!   assert([comm.rank, comm.size, comm.group, comm.machine_id], [-1, 3, 0, 1, 2, 1, 1, 1]);
%!   assert(exist(fullfile('MatMPI', 'MPI_COMM_WORLD.mat'), 'file'), 2);
%!   MatMPI_Delete_all;
%! unwind_protect_cleanup
%!   cd(before);
%!   rmdir(folder);
%! end_unwind_protect
