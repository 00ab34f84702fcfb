% Partitioned communication (chapter 4).
function native_partitioned(c)
  next = mod(c.rank + 1, c.size);
  previous = mod(c.rank - 1, c.size);
  out = mpi.Buffer(zeros(2, 4));
  in = mpi.Buffer(zeros(2, 4));
  send = c.PsendInit(out, 4, next, 3);
  receive = c.PrecvInit(in, 4, previous, 3, struct("a", "b"));
  for k = 1:3
    receive.start();
    send.start();
    out.set(k + (1:8));
    send.pready(2);
    send.preadyRange(0, 1);
    send.preadyList(3);
    while ! all(arrayfun(@(p) receive.parrived(p), 0:3))
    end
    receive.wait();
    send.wait();
    assert(in.get(), k + reshape(1:8, 2, 4));
  end
  expect_error("mpi:argument", @() c.PsendInit(out, 0, next));
  expect_error("mpi:argument", @() c.PsendInit(out, 3, next));
  expect_error("mpi:argument", @() c.PrecvInit(zeros(2, 4), 4, previous));
  expect_error("mpi:argument", @() send.pready(0.5));
end
