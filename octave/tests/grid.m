1;
% Free processors, launch and abort: on this host, and under what looks like Slurm. octave/tests/run starts it in an empty directory.
function write_command(name, text)
  file = fopen(['bin/' name], 'w');
  fprintf(file, '#!/bin/sh\n%s\n', text);
  fclose(file);
  system(['chmod +x bin/' name]);
end

function text = run_program(text_of_run)
  eval(text_of_run);
  text = fileread('MatMPI/started_ring.1.out');
  for look = 1:1000
    if any(strfind(text, sprintf('SUCCESS\n')))
      return
    end
    pause(0.01);
    text = fileread('MatMPI/started_ring.1.out');
  end
end

% On plain hosts, of which this is one.
grid_config('machines', {});
[free, hosts] = grid_status();
assert(numel(hosts), 1);
assert(hosts.name, gethostname());
assert(hosts.processors, nproc());
assert(free >= 0 && free <= nproc());
assert(! isempty(strfind(evalc('grid_status'), 'processors free')));
run_program(grid_run('started_ring', 3));
MatMPI_Delete_all;
run_program(grid_run('started_ring', [1 2 3]));
assert(! isempty(strfind(fileread('MatMPI/MPI_Run.sh'), 'OMP_NUM_THREADS=3')));
MatMPI_Delete_all;

% Slurm's commands, as far as they are used; the allocation is this host.
mkdir('bin');
write_command('sinfo', 'printf "n1 1/3/0/4\nn2 4/4/0/8\nn1 1/3/0/4\n"');
write_command('salloc', ['echo "$@" >bin/asked; while [ "${1#--}" != "$1" ]; do shift; done', ...
                         '; SLURM_JOB_NODELIST=$(hostname); export SLURM_JOB_NODELIST; exec "$@"']);
write_command('scontrol', 'echo "$3"');
write_command('scancel', 'echo "$@" >bin/cancelled');
setenv('PATH', [pwd '/bin:' getenv('PATH')]);
grid_config('kind', 'slurm', 'partition', 'short', 'options', {'--time=5'});
[free, hosts] = grid_status();
assert(free, 7);
assert({hosts.name}, {'n1', 'n2'});
assert([hosts.processors], [4 8]);
run_program(grid_run('started_ring', [1 3 2]));
assert(strtrim(fileread('bin/asked')), ['--quiet --job-name=MatMPI --nodes=1 --ntasks-per-node=3 --cpus-per-task=2 ', ...
                                        '--time=5 --partition=short sh MatMPI/allocated.sh']);
MatMPI_Delete_all;
grid_run('started_waiting', 3);
grid_abort;
assert(! isempty(strfind(fileread('bin/cancelled'), '--name=MatMPI')));
assert(evalc('MPI_Abort'), sprintf('No pid files found\n'));
MatMPI_Delete_all;

% pRUN; what pMatlab calls around a program is not looked at here.
grid_config('machines', {});
assert(pRUN('started_ring', 0), sprintf('pMatlabGlobalsInit;\nstarted_ring;\n'));
text = pRUN('started_ring', [1 2 4], {});
assert(text, sprintf('pMatlabGlobalsInit;\nglobal MPI_COMM_WORLD;\npMatlab_Init;\nstarted_ring;\npMatlab_Finalize;\n'));
text = fileread('MatMPI/MatMPIdefs1.m');
assert(! isempty(regexp(text, 'try\s+pMatlab_Init;\s+started_ring;\s+pMatlab_Finalize;\s+catch', 'once')));
% The ranks of a program that has not run are ended by the next.
text = pRUN('started_ring', 2, 'grid');
MPI_Abort;
MatMPI_Delete_all;
for call = {@() grid_run('started_ring', 0), @() grid_run('started_ring', [1 2]), @() pRUN('started_ring', 1.5, {})}
  try
    call{1}();
    error('no error for a size of job that is none');
  catch problem
    assert(! isempty(strfind(problem.message, 'the size of a job')), problem.message);
  end
end

% A program on its own.
copyfile(which('started_ring'), 'copied_ring.m');
compiled = MPI_cc('copied_ring');
assert(compiled, 'compiled copied_ring.exe');
MatMPI_Delete_all;
eval(MPI_Run(compiled, 2, {}));
MatMPI_Delete_all;
delete('copied_ring.exe', 'copied_ring.m');
confirm_recursive_rmdir(false);
rmdir('bin', 's');
