function dismiss(worker)
% DISMISS  Lets a worker go: it ends when it has finished with what it is at, and after two seconds in any case.
%
% Octave calls this also when it deletes objects at its end, when methods may not set what is private to their class.
  if postrider.work.is_gone(worker.process)
    postrider_call('release', worker.inter);
    return
  end
  postrider.work.send(worker.inter, [], 'end', 0, 0);
  since = tic();
  while ~isempty(worker.at) && toc(since) < 2
    if worker.inter.iprobe(0)
      postrider.work.receive(worker.inter);
      worker.at = [];
    else
      pause(0.01);
    end
  end
  if isempty(worker.at)
    postrider_call('disconnect', worker.inter);
  else
    system(sprintf('kill -KILL %d', worker.process));
    % A spawned job that fails after this one has ended well would be a failure of this one.
    while ~postrider.work.is_gone(worker.launcher) && toc(since) < 10
      pause(0.01);
    end
    postrider_call('release', worker.inter);
  end
end
