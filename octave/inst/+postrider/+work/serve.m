function serve()
% SERVE  What a worker of an mpi.pool does: computes pieces for the session that has started it, until that lets it go.
%
% The session sends a struct `setup` first, which the worker answers with its process number, its host and what was wrong, if anything
% was. Then come structs with a field `what`: 'task' (what to compute from now on), 'piece' (compute these elements), 'end'.
  mpi.world();
  session = mpi.parent();
  session.send(prepare(session.recv(0)), 0);
  task = [];
  while true
    try
      message = session.recv(0);
    catch
      % The session has ended without a word, and there is nobody to tell.
      return
    end
    switch message.what
      case 'task'
        task = receive_task(message.task);
      case 'piece'
        answer(session, message.call, compute(task, message));
      otherwise
        session.disconnect();
        return
    end
  end
end

function greeting = prepare(setup)
  greeting = struct('process', process_number(), 'host', mpi.processorName(), 'wrong', '');
  folders = strsplit(setup.path, pathsep());
  folders = folders(cellfun(@(folder) exist(folder, 'dir') == 7 && ~strcmp(folder, '.'), folders));
  if ~isempty(folders)
    addpath(strjoin(folders, pathsep()));
  end
  try
    cd(setup.folder);
  catch problem
    greeting.wrong = problem.message;
  end
end

function number = process_number()
  if exist('OCTAVE_VERSION', 'builtin')
    number = getpid();
  else
    number = feature('getpid');
  end
end

function task = receive_task(task)
  task.wrong = [];
  try
    task.f = postrider.work.unpack(task.f);
    if ~isempty(task.handler)
      task.handler = postrider.work.unpack(task.handler);
    end
    if ~isempty(task.cumulate)
      task.cumulate = postrider.work.unpack(task.cumulate);
    end
  catch problem
    task.wrong = problem;
  end
end

function piece = compute(task, message)
  if isempty(task.wrong)
    piece = postrider.work.evaluate(task, message.first, message.inputs);
  else
    piece = failed(message, task.wrong);
  end
end

function piece = failed(message, problem)
  piece = struct('first', message.first, 'last', message.first, 'values', {{}}, 'silent', false, ...
                 'problem', postrider.work.problem(problem, message.first));
end

function answer(session, call, piece)
  piece.call = call;
  session.send(piece, 0);
end
