% Processes (chapter 11), info objects (chapter 10), names, ports and sessions.
function native_processes(c)
  infos();
  spawned(c);
  connected(c);
  sessions(c);
end

function infos()
  i = mpi.Info();
  i.set("first", "1");
  i.set("second", "two");
  assert(i.getNkeys(), 2);
  assert(i.getNthkey(1), "second");
  assert(i.get("second"), "two");
  assert(isempty(i.get("third")));
  j = i.dup();
  j.remove("first");
  assert([i.getNkeys(), j.getNkeys()], [2 1]);
  expect_error("mpi:infoNokey", @() j.remove("first"));
  i.free();
  expect_error("mpi:argument", @() i.get("first"));
  assert(isa(mpi.createInfo(), "mpi.Info"));
  assert(isa(mpi.createInfoEnv(), "mpi.Info"));
  assert(isa(mpi.hwResourceInfo(), "mpi.Info"));
  assert(isa(mpi.abiInfo(), "mpi.Info"));
end

% Octave processes, who answer.
function spawned(c)
  program = which("native_child");
  octave = {"--quiet", "--no-init-file", "--no-site-file", "--no-history", program};
  command = fullfile(OCTAVE_HOME(), "bin", "octave-cli");
  assert(isempty(mpi.parent()));
  [inter, codes] = c.spawn(command, octave, 2, [], c.size - 1);
  assert(codes, [0 0]);
  assert(inter.remoteSize(), 2);
  talk(c, inter);
  [inter, codes] = c.spawnMultiple({command, command}, {octave, octave}, [1 1], struct("wdir", pwd()));
  assert(codes, [0 0]);
  talk(c, inter);
  expect_error("mpi:argument", @() c.spawn(command, 5));
  expect_error("mpi:argument", @() c.spawn(command, {}, -1));
  expect_error("mpi:argument", @() c.spawnMultiple({command}, {{}, {}}, 1));
end

function talk(c, inter)
  if c.rank == 0
    inter.send({"question", 5}, 1);
    assert(inter.recv(1), {"answer", 6, 2});
  end
  assert(inter.allgather(c.rank), {100, 101});
  inter.barrier();
  assert(inter.Allreduce(c.rank, '+'), 201);
  inter.disconnect();
end

function connected(c)
  port = "";
  if c.rank == 0
    port = mpi.openPort();
    mpi.publishName("native test", port);
  end
  port = c.bcast(port, 0);
  c.barrier();
  assert(mpi.lookupName("native test"), port);
  c.barrier();
  if c.rank == 0
    mpi.unpublishName("native test", port);
  end
  c.barrier();
  expect_error("mpi:name", @() mpi.lookupName("native test"));
  if c.size > 1
    % Rank 0 accepts, all others connect.
    half = c.split(double(c.rank > 0));
    if c.rank == 0
      inter = half.accept(port);
    else
      inter = half.connect(port, struct("timeout", "60"), 0);
    end
    assert(inter.remoteSize(), c.size - half.size);
    assert(inter.allreduce(1, "+"), inter.remoteSize());
    inter.disconnect();
  end
  if c.rank == 0
    mpi.closePort(port);
  end
  expect_error("mpi:arg", @() join_nothing());
end

% That this fails is the point; which class it is, is the library's affair.
function join_nothing()
  try
    mpi.join(-1);
  catch problem
    assert(strncmp(problem.identifier, "mpi:", 4));
    error("mpi:arg", "as expected");
  end
end

function sessions(c)
  s = mpi.Session();
  names = arrayfun(@(k) s.getNthPset(k), 0:s.getNumPsets() - 1, "UniformOutput", false);
  assert(any(strcmp(names, "mpi://WORLD")) && any(strcmp(names, "mpi://SELF")));
  assert(s.getPsetInfo("mpi://WORLD").get("mpi_size"), sprintf("%d", c.size));
  assert(isa(s.getInfo(), "mpi.Info"));
  g = s.groupFromPset("mpi://WORLD");
  assert(g.getSize(), c.size);
  d = g.createComm("native test");
  assert([d.rank, d.size], [c.rank, c.size]);
  d.attachBuffer(10000);
  d.Bsend(1:10, mod(d.rank + 1, d.size));
  assert(d.Recv(zeros(1, 10)), 1:10);
  d.flushBuffer();
  d.iflushBuffer().wait();
  assert(d.detachBuffer(), 10000);
  s.attachBuffer();
  s.flushBuffer();
  s.iflushBuffer().wait();
  s.detachBuffer();
  if c.size > 1
    mine = g.incl(find(mod(0:c.size - 1, 2) == mod(c.rank, 2)) - 1);
    others = g.difference(mine);
    inter = mine.createIntercomm(0, others, 0, "pairs");
    assert(inter.remoteSize(), others.getSize());
    assert(inter.allreduce(1, "+"), others.getSize());
    inter.free();
  end
  expect_error("mpi:argument", @() s.groupFromPset());
  expect_error("mpi:io", @() s.callErrhandler(35));
  d.free();
  g.free();
  s.free();
  expect_error("mpi:argument", @() s.getNumPsets());
end
