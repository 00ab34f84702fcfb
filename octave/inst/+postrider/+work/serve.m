function serve()
% SERVE  What a worker of an mpi.pool does: computes pieces for the session that has started it, until that lets it go.
%
% The session sends a struct with its path and folder first, which the worker answers with its process number, its host and what was
% wrong, if anything was. Then come values whose header says what they are: 'task' (what to compute from now on), 'piece' (the inputs of
% some elements), 'end' (nothing). A value that cannot be made here is a failure of its elements.
  mpi.world();
  mpi.allowFunctions(true);
  session = mpi.parent();
  session.send(prepare(session.recv(0)), 0);
  while true
    try
      [value, header, wrong] = postrider.work.receive(session);
    catch
      % The session has ended without a word, and there is nobody to tell.
      return
    end
    switch header.what
      case 'task'
        task = value;
        task_wrong = wrong;
      case 'piece'
        if isempty(wrong)
          wrong = task_wrong;
        end
        piece = compute(task, wrong, header.first, value);
        postrider.work.send(session, piece, 'piece', header.call, header.first);
      otherwise
        session.disconnect();
        return
    end
  end
end

function piece = compute(task, wrong, first, inputs)
  if isempty(wrong)
    piece = postrider.work.evaluate(task, first, inputs);
  else
    piece = postrider.work.failed(wrong, first);
  end
end

function greeting = prepare(setup)
  [process, launcher] = process_numbers();
  greeting = struct('process', process, 'launcher', launcher, 'host', mpi.processorName(), 'wrong', '');
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

function [process, launcher] = process_numbers()
% The first and the fourth word; the second is a name in parentheses.
  words = regexp(fileread('/proc/self/stat'), '^(\d+) \(.*\) \S+ (\d+) ', 'tokens', 'once');
  process = str2double(words{1});
  launcher = str2double(words{2});
end
