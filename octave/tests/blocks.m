1;
% The blocks at the end of the functions' files, which show how each is called: every %!test, %!assert and %!error passes, every %!demo
% runs, and no public function is without one, or without an example in its help. It is a session of one process, as that of somebody who calls test('MPI_Send').
function problem = problem_of_tests(file)
  problem = '';
  log_file = tempname();
  log = fopen(log_file, 'w');
  close_log = onCleanup(@() fclose(log));
  remove_log = onCleanup(@() delete(log_file));
  [passed, blocks] = test(file, 'quiet', log);
  if passed < blocks
    fflush(log);
    problem = sprintf('%s: %d of %d blocks fail\n%s', file, blocks - passed, blocks, fileread(log_file));
  end
end

function run_demos(file)
  [code, ends] = test(file, 'grabdemo');
  for k = 1:numel(ends) - 1
    evalc(code(ends(k):ends(k + 1) - 1));
  end
end

inst = fullfile(fileparts(fileparts(mfilename('fullpath'))), 'inst');
functions = [glob(fullfile(inst, '*.m')); glob(fullfile(inst, '+mpi', '*.m'))];
files = [functions; glob(fullfile(inst, '+mpi', '@*', '*.m'))];
% Global variables that a file's blocks make are taken for forgotten ones; these belong to the functions.
pMatlab_Init;
% What others call needs no example.
inner = regexprep(fileread(fullfile(fileparts(inst), 'INDEX')), '.*\nWhat these are made of\n', '', 'once');
problems = {};
for k = 1:numel(files)
  text = fileread(files{k});
  if isempty(regexp(text, '^%!(test|assert)', 'once', 'lineanchors'))
    if k <= numel(functions)
      problems{end + 1} = sprintf('%s has no block %%!test or %%!assert', files{k});
    end
    continue
  end
  help_text = regexp(text, '(^%[^!\n].*\n|^%\n)+', 'match', 'once', 'lineanchors', 'dotexceptnewline');
  [~, name] = fileparts(files{k});
  if isempty(strfind(help_text, 'Example')) && isempty(regexp(inner, ['\<' name '\>'], 'once'))
    problems{end + 1} = sprintf('%s has no example in its help', files{k});
  end
  problems{end + 1} = problem_of_tests(files{k});
  try
    run_demos(files{k});
  catch failure
    problems{end + 1} = sprintf('%s: a demo fails: %s', files{k}, failure.message);
  end
end
problems = problems(! cellfun(@isempty, problems));
if ! isempty(problems)
  error('%s', strjoin(problems, sprintf('\n')));
end
