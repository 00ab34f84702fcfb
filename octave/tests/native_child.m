% What native_processes.m spawns.
c = mpi.world;
parent = mpi.parent;
if c.rank == 1
  question = parent.recv(0);
  parent.send({"answer", question{2} + 1, c.size}, 0);
end
parent.allgather(100 + c.rank);
parent.barrier();
parent.Allreduce(100 + c.rank, '+');
parent.disconnect();
