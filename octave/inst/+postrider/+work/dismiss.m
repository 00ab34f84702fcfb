function dismiss(worker)
% DISMISS  Lets a worker go: it ends when it has finished with what it is at, and after two seconds in any case.
  try
    worker.inter.send(struct('what', 'end'), 0);
    since = tic();
    while ~isempty(worker.at) && toc(since) < 2
      if worker.inter.iprobe(0)
        worker.inter.recv(0);
        worker.at = [];
      end
      pause(0.01);
    end
    if isempty(worker.at)
      worker.inter.disconnect();
    else
      system(sprintf('kill -KILL %d', worker.process));
    end
  catch
    % It has died before.
  end
end
