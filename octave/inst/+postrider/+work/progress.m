function progress(job, done)
% PROGRESS  Says on standard error how many elements of a job are done, in one line that is written anew, if its VerboseLevel asks for it.
  if job.verbose > 0
    count = size(job.inputs, 2);
    fprintf(2, '\r%s: %d of %d done', job.name, done, count);
    if done == count
      fprintf(2, '\n');
    end
  end
end
