% postrider.use() switches between names, and says which are in use.
assert(postrider.use, 'matlabmpi');
toolbox = fileparts(which('postrider_call'));
postrider.use('mpitb');
assert(postrider.use, 'mpitb');
assert(which('MPI_Send'), fullfile(toolbox, 'mpitb', 'MPI_Send.mex'));
postrider.use('mpitb');
assert(postrider.use, 'mpitb');
postrider.use('matlabmpi');
assert(postrider.use, 'matlabmpi');
assert(which('MPI_Send'), fullfile(toolbox, 'MPI_Send.mex'));
try
  postrider.use('none of these');
  error('nothing was wrong');
catch problem
  assert(problem.identifier, 'postrider:use');
end
assert(postrider.use, 'matlabmpi');
postrider.use('mpitb');
assert(MPI_Init, 0);
[info, size_there] = MPI_Comm_size(MPI_COMM_WORLD);
assert(info, 0);
% MatlabMPI's names and MPI-TB's are of one MPI.
postrider.use('matlabmpi');
assert(MPI_Comm_size(MPI_COMM_WORLD), size_there);
postrider.use('mpitb');
assert(MPI_Finalize, 0);
