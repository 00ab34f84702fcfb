function dismiss(worker)
% DISMISS  Lets a worker go: it ends when it has finished with what it is at, and after two seconds in any case.
%
% Octave calls this also when it deletes objects at its end, when methods may not set what is private to their class.
  if postrider.work.is_gone(worker)
    postrider_call('release', worker.inter);
    return
  end
  worker.inter.send([], 0);
  worker.inter.send(struct('what', 'end'), 0);
  since = tic();
  while ~isempty(worker.at) && toc(since) < 2
    if worker.inter.iprobe(0)
      worker.inter.recv(0);
      worker.at = [];
    else
      pause(0.01);
    end
  end
  if isempty(worker.at)
    postrider_call('disconnect', worker.inter);
  else
    system(sprintf('kill -KILL %d', worker.process));
    postrider_call('release', worker.inter);
  end
end
