function pieces = evaluate(p, job)
% EVALUATE  Computes a job by the workers of a pool; called by postrider.work.spread.
%
%   pieces = p.evaluate(job)
%
% Each worker has one piece at a time. A call that ends by an error, or that the user interrupts, leaves workers behind that still compute:
% what they send later belongs to a call that has ended, and is dropped; then they are given work again.
  p.calls = p.calls + 1;
  task = struct('f', job.f, 'outputs', job.outputs, 'handler', job.handler, 'cumulated', job.cumulated, 'cumulate', job.cumulate, ...
    'vectorized', job.vectorized);
  bounds = postrider.work.pieces(size(job.inputs, 2), p.size, job.chunks);
  pieces = cell(1, size(bounds, 1));
  given = 0;
  received = 0;
  elements = 0;
  since = tic();
  while received < numel(pieces)
    if p.size == 0
      error('mpi:worker', '%s: the pool has no workers left; make a new one by mpi.pool', job.name);
    end
    given = give_pieces(p, job, task, bounds, given);
    piece = take_piece(p);
    if isempty(piece)
      look_after(p, job);
      % Up to a tenth of the time that has passed is slept, which leaves the processor to the workers.
      pause(min(0.01, toc(since) / 10));
      continue
    end
    received = received + 1;
    pieces{received} = piece;
    elements = elements + piece.last - piece.first + 1;
    since = tic();
    if ~isempty(piece.problem)
      pieces = pieces(1:received);
      return
    end
    postrider.work.progress(job, elements);
  end
end

function given = give_pieces(p, job, task, bounds, given)
  for k = 1:p.size
    if given == size(bounds, 1)
      return
    end
    if isempty(p.workers(k).at)
      given = given + 1;
      give(p, k, task, job.inputs(:, bounds(given, 1):bounds(given, 2)), bounds(given, :));
    end
  end
end

function give(p, k, task, inputs, bounds)
  if p.workers(k).task ~= p.calls
    postrider.work.send(p.workers(k).inter, task, 'task', p.calls, 0);
    p.workers(k).task = p.calls;
  end
  % Values that cannot be sent end the call here, before the worker is at anything.
  postrider.work.send(p.workers(k).inter, inputs, 'piece', p.calls, bounds(1));
  p.workers(k).at = bounds;
end

function piece = take_piece(p)
% A piece of this call that has arrived, or [].
  piece = [];
  for k = 1:p.size
    if ~isempty(p.workers(k).at) && p.workers(k).inter.iprobe(0)
      [piece, header, wrong] = postrider.work.receive(p.workers(k).inter);
      p.workers(k).at = [];
      if ~isempty(wrong)
        piece = postrider.work.failed(wrong, header.first);
      end
      if header.call == p.calls
        return
      end
      piece = [];
    end
  end
end

function look_after(p, job)
% Removes workers that have died; an error names one that computed for this call.
  for k = p.size:-1:1
    worker = p.workers(k);
    if isempty(worker.at) || ~postrider.work.is_gone(worker.process) || worker.inter.iprobe(0)
      continue
    end
    p.workers(k) = [];
    worker.inter.free();
    if worker.task == p.calls
      error('mpi:worker', '%s: %s has died while it computed element %d; the pool goes on with %d workers', ...
            job.name, worker.name, worker.at(1), p.size);
    end
  end
end
