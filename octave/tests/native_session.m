% A program of sessions alone, without MPI_COMM_WORLD (section 11.3): values, arrays and requests work as ever.
expect_error("mpi:state", @() mpi.createInfo());
for round = 1:2
  s = mpi.Session();
  d = s.groupFromPset("mpi://WORLD").createComm(sprintf("round %d", round));
  next = mod(d.rank + 1, d.size);
  previous = mod(d.rank - 1, d.size);
  value = {rand(300), "text"};
  d.send(value, next, 5);
  got = d.recv(previous, '*');
  assert(size(got{1}), [300 300]);
  r = d.irecv(previous, 6);
  d.send("second", next, 6);
  assert(r.wait(), "second");
  assert(d.allreduce(d.rank, "+"), sum(0:d.size - 1));
  assert(d.Sendrecv(d.rank, next, 1, 0, previous, 1), previous);
  assert(d.bcast({d.rank}, 0), {0});
  clear r
  d.free();
  s.free();
end
expect_error("mpi:state", @() d.barrier());
