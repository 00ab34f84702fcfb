function front = matlabmpi
% MATLABMPI What the programs of the bench need, said with the names of MatlabMPI.
%
%   front = matlabmpi
%
% front has a function for each of their steps. Loops are inside these functions, so that the call of a handle is no part of the time
% of a message. The same file runs on the toolbox, through memory and through files, and on bench/octave/files.
  front.open = @open;
  front.close = @close;
  front.send = @send;
  front.receive = @receive;
  front.round_trips = @round_trips;
  front.answers = @answers;
  front.broadcasts = @broadcasts;
end

function [comm, rank, ranks] = open
  MPI_Init;
  comm = MPI_COMM_WORLD;
  rank = MPI_Comm_rank(comm);
  ranks = MPI_Comm_size(comm);
end

function close
  MPI_Finalize;
end

function send(value, dest, tag, comm)
  MPI_Send(dest, tag, comm, value);
end

% `alike` is for interfaces that want an array to receive into.
function value = receive(alike, source, tag, comm)
  value = MPI_Recv(source, tag, comm);
end

function value = round_trips(value, count, partner, comm)
  for i = 1:count
    MPI_Send(partner, 1, comm, value);
    value = MPI_Recv(partner, 1, comm);
  end
end

function answers(value, count, partner, comm)
  for i = 1:count
    value = MPI_Recv(partner, 1, comm);
    MPI_Send(partner, 1, comm, value);
  end
end

% The root moves on with each, so that they do not overlap.
function value = broadcasts(value, count, ranks, comm)
  for i = 1:count
    value = MPI_Bcast(mod(i, ranks), 2, comm, value);
  end
end
