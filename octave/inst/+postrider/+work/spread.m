function outputs = spread(team, job)
% SPREAD  Computes a job by the processes of a team.
%
%   outputs = postrider.work.spread(team, job)
%
% team is an mpi.Comm, whose processes all call this with the same job, an mpi.pool, or a number of workers: these are started at the
% first call, are used by the next ones and end with the session.
  if isa(team, 'mpi.Comm')
    pieces = postrider.work.shared(team, job);
  elseif isa(team, 'mpi.pool')
    pieces = team.evaluate(job);
  elseif isnumeric(team) && isscalar(team) && team >= 1 && team == fix(team)
    pool = kept(double(team));
    pieces = pool.evaluate(job);
  else
    error('mpi:argument', '%s: the first argument has to be a number of processes, from 1 on, or an mpi.Comm', job.name);
  end
  outputs = postrider.work.results(job, pieces);
end

function pool = kept(workers)
  persistent last
  if ~isempty(last) && last.size ~= workers
    last.close();
    last = [];
  end
  if isempty(last)
    last = mpi.pool(workers);
  end
  pool = last;
end
