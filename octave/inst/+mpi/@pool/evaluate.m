function pieces = evaluate(p, job)
% EVALUATE  Computes a job by the workers of a pool; called by postrider.work.spread.
%
%   pieces = p.evaluate(job)
%
% Each worker has one piece at a time. A call that ends by an error, or that the user interrupts, leaves workers behind that still compute:
% what they send later belongs to a call that has ended, and is dropped; then they are given work again.
  if p.size == 0
    error('mpi:worker', '%s: the pool has no workers left; make a new one by mpi.pool', job.name);
  end
  p.calls = p.calls + 1;
  task = sent_form(job);
  bounds = postrider.work.pieces(size(job.inputs, 2), p.size, job.chunks);
  pieces = cell(1, size(bounds, 1));
  given = 0;
  received = 0;
  elements = 0;
  since = tic();
  while received < numel(pieces)
    given = give_pieces(p, job, task, bounds, given);
    piece = take_piece(p, job);
    if isempty(piece)
      % A tenth of the time that has passed is not noticed, and leaves the processor to the workers.
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

function task = sent_form(job)
  task = struct('f', postrider.work.pack(job.f), 'outputs', job.outputs, 'handler', [], 'cumulated', job.cumulated, 'cumulate', []);
  if ~isempty(job.handler)
    task.handler = postrider.work.pack(job.handler);
  end
  if job.cumulated
    task.cumulate = postrider.work.pack(job.cumulate);
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
    p.workers(k).inter.send(struct('what', 'task', 'task', task), 0);
    p.workers(k).task = p.calls;
  end
  % Values that cannot be sent end the call here, before the worker is at anything.
  p.workers(k).inter.send(struct('what', 'piece', 'call', p.calls, 'first', bounds(1), 'inputs', {inputs}), 0);
  p.workers(k).at = bounds;
end

function piece = take_piece(p, job)
% A piece of this call that has arrived, or [].
  piece = [];
  k = 1;
  while k <= p.size && isempty(piece)
    if ~isempty(p.workers(k).at)
      try
        if p.workers(k).inter.iprobe(0)
          piece = p.workers(k).inter.recv(0);
          p.workers(k).at = [];
        end
      catch problem
        bury(p, k, job, problem);
        continue
      end
    end
    if ~isempty(piece) && piece.call ~= p.calls
      piece = [];
    end
    k = k + 1;
  end
end

function bury(p, k, job, problem)
% Only what a worker was at for this call is missed.
  worker = p.workers(k);
  p.workers(k) = [];
  p.size = numel(p.workers);
  if worker.task == p.calls
    error('mpi:worker', '%s: %s has died while it computed element %d: %s', job.name, worker.name, worker.at(1), problem.message);
  end
end
