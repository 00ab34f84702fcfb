% A process that ends with objects of mpi.* alive, in the way that the argument says: no crash, no error, no wait without end.
how = argv(){end};
c = mpi.world;
next = mod(c.rank + 1, c.size);
switch how
  case "dropped"
    % Receives that nothing will match, and values that nobody receives.
    r = c.Irecv(zeros(1, 1000), c.rank, 1);
    c.Irecv(zeros(1, 1000), c.rank, 2);
    s = c.irecv(next, 3);
    c.send(1:10, next, 4);
  case "active"
    b = mpi.Buffer(zeros(1, 1000));
    r = c.RecvInit(b, c.rank, 1);
    r.start();
    clear r
    p = c.PsendInit(b, 2, c.rank, 5);
    p.start();
    p.pready(0);
    clear b
  case "buffers"
    b = mpi.Buffer(ones(1000));
    d = b;
    delete(b);
    delete(d);
    list = {mpi.Buffer(1), c.getGroup(), mpi.Info(), mpi.Datatype.contiguous(3)};
  case "windows"
    w = mpi.Win.allocate(c, zeros(1, 10));
    w.fence();
    w.put(1:3, next, 2);
    w.fence();
    x = w.buffer;
    f = mpi.File.open(mpi.self, tempname(), "create|rdwr|delete_on_close");
    f.close();
    w.free();
  case "freed"
    % What was sent by a communicator that is freed before the send is known to be complete.
    d = c.dup();
    d.send(rand(500), next, 1);
    d.recv(mod(c.rank - 1, c.size), 1);
    d.free();
  case "cleared"
    r = c.Irecv(zeros(1, 1000), next, 1);
    s = c.Isend(ones(1, 1000), next, 1);
    t = [c.irecv(next, 2), c.Irecv(0, next, 3)];
    clear all
    c = mpi.world;
    c.Send(ones(1, 1000), mod(c.rank + 1, c.size), 7);
    assert(c.Recv(zeros(1, 1000), mod(c.rank - 1, c.size), 7), ones(1, 1000));
end
