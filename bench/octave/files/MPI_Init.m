function MPI_Init
% MPI_INIT The first call of a program whose messages are files: nothing has to be opened.
%
%   MPI_Init
%
% The functions of this directory have the names of MatlabMPI and send messages by its protocol, written anew in our own words. They
% are what the benchmarks compare with, and are no part of the toolbox. `bench/octave/several` starts their programs.
%
% A message is a file pSOURCE_pDEST_tTAG_buffer.mat with the variables in the directory of the job, and then an empty file with
% `lock` in the place of `buffer`, which says that the first one is complete. The receiver opens the lock until that succeeds, loads
% the buffer, and deletes both. Two messages with the same name overwrite each other, as they do there.
end
