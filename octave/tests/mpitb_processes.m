1;
% Spawned processes, and ports.
function check(info)
  assert(info, 0);
end

postrider.use('mpitb');
check(MPI_Init);
world = MPI_COMM_WORLD;
[info, rank] = MPI_Comm_rank(world);
[info, ranks] = MPI_Comm_size(world);
[info, parents] = MPI_Comm_get_parent;
assert([info parents], [0 MPI_COMM_NULL]);
child = ['postrider.use(''mpitb''); MPI_Init; [info, parents] = MPI_Comm_get_parent; [info, all] = MPI_Intercomm_merge(parents, 1); ' ...
         'sum_there = 0; MPI_Allreduce(1, sum_there, MPI_SUM, all); [info, rank] = MPI_Comm_rank(MPI_COMM_WORLD); ' ...
         'MPI_Send(10 * rank + sum_there, 0, 1, all); MPI_Comm_free(all); MPI_Comm_disconnect(parents); MPI_Finalize;'];
octave = fullfile(OCTAVE_HOME, 'bin', 'octave-cli');
args = {'-q', '--no-init-file', '--eval', child};
for multiple = [false true]
  if multiple
    [info, children, errs] = MPI_Comm_spawn_multiple({octave; octave}, {args; args}, {1; 1}, {MPI_INFO_NULL; MPI_INFO_NULL}, 0, world);
    assert(errs, [0; 0]);
  else
    [info, children, errs] = MPI_Comm_spawn(octave, args, 2, MPI_INFO_NULL, 0, world);
    assert(errs, [0 0]);
  end
  check(info);
  [info, n] = MPI_Comm_remote_size(children);
  assert(n, 2);
  [info, all_of_us] = MPI_Intercomm_merge(children, 0);
  check(info);
  total = 0;
  check(MPI_Allreduce(1, total, MPI_SUM, all_of_us));
  assert(total, ranks + 2);
  if rank == 0
    got = 0;
    for k = 0:1
      check(MPI_Recv(got, ranks + k, 1, all_of_us));
      assert(got, 10 * k + ranks + 2);
    end
  end
  check(MPI_Comm_free(all_of_us));
  check(MPI_Comm_disconnect(children));
end

% The last rank serves a port, the first finds it by its name.
if ranks > 1
  if rank == ranks - 1
    [info, port] = MPI_Open_port(MPI_INFO_NULL);
    check(info);
    assert(ischar(port) && numel(port) <= MPI_MAX_PORT_NAME);
    check(MPI_Publish_name('mpitb', MPI_INFO_NULL, port));
    check(MPI_Barrier(world));
    [info, other] = MPI_Comm_accept(port, MPI_INFO_NULL, 0, MPI_COMM_SELF);
    check(info);
    buf = 0;
    check(MPI_Recv(buf, 0, 4, other));
    assert(buf, 42);
    check(MPI_Unpublish_name('mpitb', MPI_INFO_NULL, port));
    check(MPI_Close_port(port));
  else
    check(MPI_Barrier(world));
    other = MPI_COMM_NULL;
    if rank == 0
      [info, port] = MPI_Lookup_name('mpitb', MPI_INFO_NULL);
      check(info);
      [info, other] = MPI_Comm_connect(port, MPI_INFO_NULL, 0, MPI_COMM_SELF);
      check(info);
      check(MPI_Send(42, 0, 4, other));
    end
  end
  if other ~= MPI_COMM_NULL
    check(MPI_Comm_disconnect(other));
  end
end
check(MPI_Finalize);
