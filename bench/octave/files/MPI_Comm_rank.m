function rank = MPI_Comm_rank(comm)
% MPI_COMM_RANK The number of this copy, from 0.
%
%   rank = MPI_Comm_rank(comm)
  rank = comm.rank;
end
