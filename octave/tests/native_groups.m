% Groups and communicators (chapter 7), attributes and info.
function native_groups(c)
  n = c.size;
  groups(c, n);
  communicators(c, n);
  attributes(c);
  s = mpi.self;
  assert([s.rank, s.size], [0 1]);
  assert(s.allreduce(5), 5);
end

function groups(c, n)
  g = c.getGroup();
  assert(g.getSize(), n);
  assert(g.getRank(), c.rank);
  even = g.incl(0:2:n - 1);
  odd = g.excl(0:2:n - 1);
  assert(even.getSize(), ceil(n / 2));
  assert(odd.getSize(), floor(n / 2));
  assert(even.translateRanks(0:even.getSize() - 1, g), 0:2:n - 1);
  assert(g.translateRanks(n - 1, even), [(n - 1) / 2, mpi.UNDEFINED](1 + (mod(n, 2) == 0)));
  assert(even.union(odd).compare(g), [mpi.SIMILAR, mpi.IDENT](1 + (n < 3)));
  assert(even.intersection(odd).getSize(), 0);
  assert(g.difference(even).compare(odd), mpi.IDENT);
  assert(g.rangeIncl([0; n - 1; 2]).compare(even), mpi.IDENT);
  assert(g.rangeExcl([0; n - 1; 2]).compare(odd), mpi.IDENT);
  assert(g.compare(even), [mpi.UNEQUAL, mpi.IDENT](1 + (n == 1)));
  if mod(c.rank, 2)
    assert(even.getRank(), mpi.UNDEFINED);
  end
  expect_error("mpi:rank", @() g.incl(n));
  expect_error("mpi:argument", @() g.rangeIncl([0 1]));
  expect_error("mpi:argument", @() g.incl(0.5));
  expect_error("mpi:argument", @() g.incl("a"));
  d = c.create(even);
  if mod(c.rank, 2)
    assert(isempty(d));
  else
    assert(d.size, ceil(n / 2));
    e = d.createGroup(even, 4);
    assert(d.compare(e), mpi.CONGRUENT);
    e.free();
    d.free();
  end
  even.free();
  expect_error("mpi:argument", @() even.getSize());
end

function communicators(c, n)
  d = c.dup();
  assert(c.compare(d), mpi.CONGRUENT);
  assert(c.compare(c), mpi.IDENT);
  e = c.idup().wait();
  assert(e.size, n);
  e.free();
  info = mpi.Info();
  e = c.idupWithInfo(info).wait();
  assert(e.allreduce(1), n);
  e.free();
  e = c.dupWithInfo(struct("key", "value"));
  assert(e.rank, c.rank);
  e.free();
  s = c.split(mod(c.rank, 2), -c.rank);
  assert(s.rank, floor((n - 1 - c.rank) / 2));
  if c.rank == 0
    assert(isempty(c.split(mpi.UNDEFINED)));
  else
    assert(c.split(0).size, n - 1);
  end
  t = c.splitType(mpi.COMM_TYPE_SHARED);
  assert(t.size, n);
  assert([d.getSize(), d.getRank()], [n, c.rank]);
  d.setName("a name");
  assert(d.getName(), "a name");
  d.setInfo(struct("mpi_assert_no_any_tag", "false"));
  assert(isa(d.getInfo(), "mpi.Info"));
  r = d.isend(1, d.rank);
  assert(d.recv(d.rank), 1);
  d.free();
  expect_error("mpi:argument", @() d.barrier());
  expect_error("mpi:argument", @() d.free());
  expect_error("mpi:comm", @() c.free());
  c.barrier();
  s.disconnect();
  expect_error("mpi:argument", @() s.getSize());
end

function attributes(c)
  key = mpi.createKeyval(true);
  own = mpi.createKeyval();
  d = c.dup();
  assert(isempty(d.getAttr(key)));
  d.setAttr(key, struct("a", {{1, "b"}}));
  d.setAttr(key, struct("a", {{2, "b"}}));
  d.setAttr(own, rand(100));
  e = d.dup();
  assert(e.getAttr(key), struct("a", {{2, "b"}}));
  assert(isempty(e.getAttr(own)));
  e.deleteAttr(key);
  assert(isempty(e.getAttr(key)));
  assert(size(d.getAttr(own)), [100 100]);
  e.free();
  d.free();
  mpi.freeKeyval(key);
  mpi.freeKeyval(own);
  assert(c.getAttr("tag_ub") >= 32767);
  assert(isempty(c.getAttr("universe_size")) || c.getAttr("universe_size") >= 1);
  expect_error("mpi:argument", @() c.getAttr("nothing"));
  expect_error("mpi:keyval", @() c.setAttr(mpi.UNDEFINED, 1));
end
