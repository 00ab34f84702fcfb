function front = mpitb
% MPITB What the programs of the bench need, with the names and conventions of MPI-TB: a code first, and buffers changed in place.
%
%   front = mpitb
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
  postrider.use('mpitb');
  must(MPI_Init);
  comm = MPI_COMM_WORLD;
  [info, rank] = MPI_Comm_rank(comm);
  must(info);
  [info, ranks] = MPI_Comm_size(comm);
  must(info);
end

function close
  must(MPI_Finalize);
end

function send(value, dest, tag, comm)
  must(MPI_Send(value, dest, tag, comm));
end

function value = receive(alike, source, tag, comm)
  % Another array than the caller's: the call changes its memory. Zero is added because a plain copy would share it.
  value = alike + 0;
  must(MPI_Recv(value, source, tag, comm));
end

function value = round_trips(value, count, partner, comm)
  value = value + 0;
  for i = 1:count
    info = MPI_Send(value, partner, 1, comm);
    [info, stat] = MPI_Recv(value, partner, 1, comm);
  end
end

function answers(value, count, partner, comm)
  value = value + 0;
  for i = 1:count
    [info, stat] = MPI_Recv(value, partner, 1, comm);
    info = MPI_Send(value, partner, 1, comm);
  end
end

function value = broadcasts(value, count, ranks, comm)
  value = value + 0;
  for i = 1:count
    info = MPI_Bcast(value, mod(i, ranks), comm);
  end
end

% The loops that are timed do not ask for the code: their programs compare what arrives.
function must(info)
  if info ~= 0
    error('bench:mpitb', 'a function of MPI-TB returned the code %d', info);
  end
end
