function serve()
% SERVE  What a worker of an mpi.pool does: computes pieces for the session that has started it, until that lets it go.
%
% The session sends a struct with its path and folder first, which the worker answers with its process number, its host and what was
% wrong, if anything was. Then come values, and behind each a struct whose field `what` says what it is: 'task' (what to compute from
% now on), 'piece' (the inputs of some elements), 'end' (nothing). So a value that cannot be made here is a failure of its elements.
  mpi.world();
  mpi.allowFunctions(true);
  session = mpi.parent();
  session.send(prepare(session.recv(0)), 0);
  while true
    [value, wrong] = receive(session);
    try
      message = session.recv(0);
    catch
      % The session has ended without a word, and there is nobody to tell.
      return
    end
    switch message.what
      case 'task'
        task = value;
        task_wrong = wrong;
      case 'piece'
        piece = compute(task, [task_wrong, wrong], message.first, value);
        piece.call = message.call;
        session.send(piece, 0);
      otherwise
        session.disconnect();
        return
    end
  end
end

function [value, wrong] = receive(session)
  wrong = [];
  try
    value = session.recv(0);
  catch problem
    value = [];
    wrong = problem;
  end
end

function piece = compute(task, wrong, first, inputs)
  if isempty(wrong)
    piece = postrider.work.evaluate(task, first, inputs);
  else
    piece = struct('first', first, 'last', first, 'values', {{}}, 'silent', false, 'problem', postrider.work.problem(wrong(1), first));
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
