function [name, process, launcher] = greet(worker)
% GREET  Waits until a worker is ready; name tells it from the others, process is its number, launcher that of
% the process which has started it and waits for it.
  greeting = worker.inter.recv(0);
  process = greeting.process;
  launcher = greeting.launcher;
  name = sprintf('%s (process %d on host %s)', worker.name, process, greeting.host);
  if ~isempty(greeting.wrong)
    error('mpi:worker', 'mpi.pool: %s cannot work in %s: %s', name, pwd(), greeting.wrong);
  end
end
