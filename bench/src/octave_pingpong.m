% One-way time of a message between two Octave processes, from the value on one side to the value on the other.
%
% Usage: postrider run -n 2 octave octave_pingpong.m BUDGET_MS LARGE_BYTES
%
% A vector of doubles of 16 bytes, and one of LARGE_BYTES, go to and fro; half a round trip is the figure. The iteration
% count is doubled until a batch takes a tenth of the budget, then batches run until it is used, and their median is
% printed on rank 0 as a line of JSON, in microseconds, like the C programs do. Rank 1 answers as many messages as rank 0
% announces, until it announces none.

1;

function value = ping_pong(value, iterations, comm)
  for i = 1:iterations
    MPI_Send(1, 1, comm, value);
    value = MPI_Recv(1, 1, comm);
  end
end

% The other side is told first how many messages will come, with tag 0; they carry tag 1.
function seconds = batch(value, iterations, comm)
  MPI_Send(1, 0, comm, iterations);
  start = tic();
  returned = ping_pong(value, iterations, comm);
  seconds = toc(start);
  if !isequal(returned, value)
    error('octave_pingpong: a vector of %d elements came back with other contents', numel(value));
  end
end

function measure(bytes, budget_s, comm)
  value = rand(bytes / 8, 1);
  iterations = 1;
  while min([batch(value, iterations, comm), batch(value, iterations, comm)]) < 0.1 * budget_s
    iterations = 2 * iterations;
  end
  times = [];
  while numel(times) < 3 || (numel(times) < 15 && sum(times) * iterations < budget_s)
    times(end + 1) = batch(value, iterations, comm) / iterations;
  end
  line = '{"figure":"octave","ranks":2,"bytes":%d,"value":%.6g,"best":%.6g,"worst":%.6g,"unit":"us","iterations":%d}\n';
  printf(line, bytes, 5e5 * median(times), 5e5 * min(times), 5e5 * max(times), iterations * numel(times));
  fflush(stdout);
end

function answer(comm)
  while (iterations = MPI_Recv(0, 0, comm)) > 0
    for i = 1:iterations
      MPI_Send(0, 1, comm, MPI_Recv(0, 1, comm));
    end
  end
end

arguments = argv();
budget_s = 1e-3 * str2double(arguments{1});
large_bytes = str2double(arguments{2});
MPI_Init;
comm = MPI_COMM_WORLD;
if MPI_Comm_size(comm) != 2
  error('octave_pingpong needs 2 ranks: postrider run -n 2 octave octave_pingpong.m');
end
if MPI_Comm_rank(comm) == 0
  measure(16, budget_s, comm);
  measure(large_bytes, budget_s, comm);
  MPI_Send(1, 0, comm, 0);
else
  answer(comm);
end
MPI_Finalize;
