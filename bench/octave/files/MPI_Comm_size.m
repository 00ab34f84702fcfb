function ranks = MPI_Comm_size(comm)
% MPI_COMM_SIZE How many copies of the program there are.
%
%   ranks = MPI_Comm_size(comm)
  ranks = comm.size;
end
