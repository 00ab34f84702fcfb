function MPI_Finalize
% MPI_FINALIZE The last call of a program whose messages are files.
%
%   MPI_Finalize
end
