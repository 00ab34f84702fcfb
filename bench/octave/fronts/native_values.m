function front = native_values
% NATIVE_VALUES What the programs of the bench need, with the native package and values of any kind.
%
%   front = native_values
%
% The steps are described in matlabmpi.m.
  front.open = @open;
  front.close = @close;
  front.send = @send;
  front.receive = @receive;
  front.round_trips = @round_trips;
  front.answers = @answers;
  front.broadcasts = @broadcasts;
end

function [comm, rank, ranks] = open
  comm = mpi.world;
  rank = comm.rank;
  ranks = comm.size;
end

% A program that ends is finalized.
function close
end

function send(value, dest, tag, comm)
  comm.send(value, dest, tag);
end

function value = receive(alike, source, tag, comm)
  value = comm.recv(source, tag);
end

function value = round_trips(value, count, partner, comm)
  for i = 1:count
    comm.send(value, partner, 1);
    value = comm.recv(partner, 1);
  end
end

function answers(value, count, partner, comm)
  for i = 1:count
    value = comm.recv(partner, 1);
    comm.send(value, partner, 1);
  end
end

function value = broadcasts(value, count, ranks, comm)
  for i = 1:count
    value = comm.bcast(value, mod(i, ranks));
  end
end
