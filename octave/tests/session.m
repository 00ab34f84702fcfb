1;
% A session, which no launcher has started, runs one job after another with MPI_Run and stays, whatever its ranks do.
% octave/tests/run starts it in an empty directory, with the number of ranks in RANKS.
function outputs = run_program(name, ranks, machines)
  if nargin < 3
    machines = {};
  end
  MatMPI_Delete_all;
  assert(! exist('MatMPI', 'dir'));
  evalin('base', MPI_Run(name, ranks, machines));
  outputs = cell(1, ranks - 1);
  for rank = 1:ranks-1
    file = sprintf('MatMPI/%s.%d.out', name, rank);
    outputs{rank} = await_output(file);
  end
end

% The rank may still be writing when the session has gone on.
function text = await_output(file)
  text = '';
  for look = 1:2000
    if exist(file, 'file')
      text = fileread(file);
    end
    if ! isempty(regexp(text, '(SUCCESS|total is \d+)\n', 'once'))
      return
    end
    pause(0.01);
  end
  error('there is no end in %s: %s', file, text);
end

function message = fails(name, ranks)
  MatMPI_Delete_all;
  message = '';
  try
    evalin('base', MPI_Run(name, ranks, {}));
  catch problem
    message = problem.message;
  end
end

function message = error_of(varargin)
  message = 'no error';
  try
    MPI_Run(varargin{:});
  catch problem
    message = problem.message;
  end
end

function expect(pattern, message)
  assert(! isempty(regexp(message, pattern, 'once')), message);
end

ranks = str2double(getenv('RANKS'));
expect('No pid files found', evalc('MPI_Abort'));
for again = 1:2
  outputs = run_program('started_ring', ranks);
  for k = 1:ranks-1
    expect('^SUCCESS\n$', outputs{k});
  end
end
expect('MatMPI is there already', error_of('started_ring', ranks, {}));
MatMPI_Delete_all;
expect('no program .not_there.', error_of('not_there', ranks, {}));
expect('n_proc', error_of('started_ring', 0, {}));
expect('names no machine', error_of('started_ring', ranks, {':unix:/tmp'}));
MatMPI_Delete_all;
assert(! exist('MatMPI', 'dir'));
if ranks > 1
  last = ranks - 1;
  message = fails('started_failing', ranks);
  expect(sprintf('rank %d has failed: .*exit.* 1; .* MatMPI/started_failing.%d.out', last, last), message);
  expect('error: this rank cannot go on', fileread(sprintf('MatMPI/started_failing.%d.out', last)));
end
% What many ranks show no better than a few.
if ranks > 1 && ranks < 8
  % The next job is not concerned by one that has failed.
  run_program('started_ring', ranks);
  expect('all other ranks have ended|all ranks of MPI_Run have ended', fails('started_leaving', ranks));
  MatMPI_Delete_all;
  text = MPI_Run('started_waiting', ranks, {});
  expect('^$', evalc('MPI_Abort'));
  expect('No pid files found', evalc('MPI_Abort'));
  MatMPI_Delete_all;
  assert(MPI_Run('started_alone', ranks, {[gethostname() '&']}), '');
  expect(sprintf('^the total is %d\n$', sum(1:last)), await_output('MatMPI/started_alone.0.out'));
  run_program('started_ring', ranks, {[gethostname() ':unix:' pwd], 'localhost'});
end
MatMPI_Delete_all;
disp('the session has ended');
