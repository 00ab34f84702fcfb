% What the workers of pool.m compute: a function that is found by its name.
function y = pool_worker(what, argument)
  y = getpid();
  switch what
    case 'fail'
      error('my:problem', 'late');
    case 'wait'
      pause(0.3);
    case 'hang'
      if ! isempty(getenv('PROCESSES'))
        file = fopen(getenv('PROCESSES'), 'a');
        fprintf(file, '%d\n', y);
        fclose(file);
      end
      pause(1e6);
    case 'die'
      if argument == getpid()
        kill(getpid(), 9);
      end
    otherwise
      % All workers have to be at this at the same time.
      fclose(fopen(fullfile(what, num2str(y)), 'w'));
      while numel(dir(what)) < argument + 2
        pause(0.001);
      end
  end
end
