1;
% The communicator is a struct, a global variable and a function; messages can be kept as files.
function check_struct(comm, ranks)
  assert(isstruct(comm));
  assert(comm.size, ranks);
  assert(comm.group, 0:ranks-1);
  assert(comm.save_message_flag, 0);
  assert(comm.host_rank, -1);
  assert(comm.machine_id, ones(1, ranks));
  database = comm.machine_db;
  assert(database.n_machine, 1);
  assert(database.n_proc, ranks);
  assert([database.id_start, database.id_stop], [1, ranks]);
  for field = {'type', 'machine', 'dir', 'matlab_command', 'remote_launch', 'remote_flags'}
    assert(iscell(database.(field{1})) && ischar(database.(field{1}){1}));
  end
end

function check_saved(comm, folder)
  rank = MPI_Comm_rank(comm);
  saved = MatMPI_Save_messages(MatMPI_Comm_dir(comm, folder), 1);
  assert(saved.machine_db.dir, {folder});
  MPI_Send(rank, 'kept', saved, 'value', magic(4));
  MPI_Send(rank, 'not kept', comm, 3);
  found = load(MatMPI_Buffer_file(rank, rank, 'kept', saved));
  assert(found.varargin, {'value', magic(4)});
  assert(exist(MatMPI_Lock_file(rank, rank, 'kept', saved), 'file'), 2);
  assert(exist(MatMPI_Lock_file(rank, rank, 'not kept', saved), 'file'), 0);
  [text, matrix] = MPI_Recv(rank, 'kept', saved);
  assert({text, matrix}, {'value', magic(4)});
  assert(MPI_Recv(rank, 'not kept', MatMPI_Save_messages(saved, 0)), 3);
end

global MPI_COMM_WORLD
MPI_Init;
MPI_Init;
comm = MPI_COMM_WORLD;
ranks = MPI_Comm_size(comm);
rank = MPI_Comm_rank(comm);
assert(comm.rank, rank);
check_struct(comm, ranks);
clear MPI_COMM_WORLD
assert(MPI_COMM_WORLD(), comm);
clear -global MPI_COMM_WORLD
assert(MPI_COMM_WORLD(), comm);
MPI_Send(rank, 1, [], rank);
assert(MPI_Recv(rank, 1, comm), rank);
folder = tempname();
mkdir(folder);
check_saved(comm, folder);
confirm_recursive_rmdir(false);
rmdir(folder, 's');

% A broadcast to some.
evens = 0:2:ranks-1;
value = MPI_Mcast(0, evens, 'some', comm, {rank});
if any(rank == evens)
  assert(value, {0});
else
  assert(isempty(value));
end
assert(MPI_Bcast(ranks - 1, 2^33, comm, rank), ranks - 1);
assert(MatMPI_Host_rank(comm), -1);
assert(MatlabMPI_ver(), '1.2');
MatMPI_Sleep;
pause2(0);
[pc, unix_name] = MatMPI_dir_map(struct('pc_unix_dir_map', {{'Z:', '/data/a'}}), '/data/a/b');
assert({pc, unix_name}, {'Z:\b', '/data/a/b'});
clear all
MPI_Init;
comm = MPI_COMM_WORLD;
MPI_Send(MPI_Comm_rank(comm), 1, comm, 'after clear all');
assert(MPI_Recv(MPI_Comm_rank(comm), 1, comm), 'after clear all');
MPI_Finalize;
