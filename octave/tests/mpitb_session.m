1;
% A session, which no launcher has started: programs follow each other, and start processes.
function check(info)
  assert(info, 0);
end

postrider.use('mpitb');
octave = fullfile(OCTAVE_HOME, 'bin', 'octave-cli');
child = ['postrider.use(''mpitb''); MPI_Init; [info, parents] = MPI_Comm_get_parent; [info, all] = MPI_Intercomm_merge(parents, 1); ' ...
         'data = 0; MPI_Bcast(data, 0, all); data = 2 * data; MPI_Send(data, 0, 7, all); MPI_Finalize;'];
for program = 1:2
  check(MPI_Init);
  [info, rank] = MPI_Comm_rank(MPI_COMM_WORLD);
  [info, ranks] = MPI_Comm_size(MPI_COMM_WORLD);
  assert([rank ranks], [0 1]);
  [info, children, errs] = MPI_Comm_spawn(octave, {'-q', '--eval', child}, 2, MPI_INFO_NULL, 0, MPI_COMM_SELF);
  check(info);
  assert(errs, [0 0]);
  [info, everybody] = MPI_Intercomm_merge(children, 0);
  check(info);
  check(MPI_Bcast(program, 0, everybody));
  for k = 1:2
    got = 0;
    [info, stat] = MPI_Recv(got, MPI_ANY_SOURCE, 7, everybody);
    check(info);
    assert(got, 2 * program);
  end
  check(MPI_Finalize);
  [info, flag] = MPI_Finalized;
  assert(flag, 1);
  try
    MPI_Barrier(MPI_COMM_WORLD);
    error('nothing was wrong');
  catch problem
    assert(problem.identifier, 'mpi:state');
  end
  % As programs clean up.
  clear MPI_* MPITB_*
end
disp('done');
