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
  comm = matmpi_comm(n_proc, machines);
  MPI_COMM_WORLD = comm;
  save(fullfile('MatMPI', 'MPI_COMM_WORLD.mat'), 'MPI_COMM_WORLD');
