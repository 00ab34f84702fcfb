function pieces = shared(c, job)
% SHARED  Computes a job by all processes of a communicator, which all call this with the same job.
%
%   pieces = postrider.work.shared(c, job)
%
% Nobody deals: the number of the next piece is a counter in memory of rank 0, which each process reads and adds to at once, whenever it
% has time, also while rank 0 computes. A process whose element fails moves the counter past the end, so that the others stop after the
% piece they are at. Then each process receives what all have computed.
  bounds = postrider.work.pieces(size(job.inputs, 2), c.size, job.chunks);
  if c.size == 1
    pieces = alone(job, bounds);
    return
  end
  counters = mpi.Win.allocate(c, zeros(2, 1));
  % Each process puts zeros into its memory before anybody adds to them.
  c.barrier();
  counters.lockAll();
  mine = compute(c, counters, job, bounds);
  counters.unlockAll();
  counters.free();
  pieces = c.allgather(mine);
  pieces = [pieces{:}];
  if c.rank == 0
    postrider.work.progress(job, size(job.inputs, 2));
  end
end

function pieces = alone(job, bounds)
  pieces = cell(1, 0);
  for k = 1:size(bounds, 1)
    pieces{k} = piece(job, bounds(k, :));
    if ~isempty(pieces{k}.problem)
      return
    end
    postrider.work.progress(job, bounds(k, 2));
  end
end

function pieces = compute(c, counters, job, bounds)
  number = size(bounds, 1);
  pieces = cell(1, 0);
  next = take(counters, 1, 1);
  while next <= number
    pieces{end+1} = piece(job, bounds(next, :));
    if ~isempty(pieces{end}.problem)
      take(counters, 1, number);
      return
    end
    if job.verbose > 0
      elements = bounds(next, 2) - bounds(next, 1) + 1;
      done = take(counters, 2, elements) - 1 + elements;
      if c.rank == 0 && done < size(job.inputs, 2)
        postrider.work.progress(job, done);
      end
    end
    next = take(counters, 1, 1);
  end
end

function computed = piece(job, bounds)
  computed = postrider.work.evaluate(job, bounds(1), job.inputs(:, bounds(1):bounds(2)));
end

function next = take(counters, which, more)
  next = counters.fetchAndOp(more, 0, which, '+') + 1;
end
