% All of MPI in the language, mpi.*, by the chapters of the standard; the names of chapters may be arguments: native.m files windows.
chapters = argv()';
chapters = chapters(cellfun(@(name) exist(["native_", name], "file") == 2, chapters));
if isempty(chapters)
  chapters = {"values", "arrays", "requests", "partitioned", "collectives", "reductions", "neighbors", "intercomms", "groups", ...
              "topologies", "datatypes", "windows", "files", "processes", "environment", "misuse"};
end
assert(! mpi.initialized() && ! mpi.finalized());
expect_error("mpi:state", @() mpi.createInfo());
c = mpi.world;
mpi.attachBuffer();
assert(mpi.initialized() && ! mpi.finalized());
for k = 1:numel(chapters)
  try
    rand("twister", 42);
    feval(["native_", chapters{k}], c);
  catch failure
    here = find(strncmp({failure.stack.name}, "native_", 7) | ! cellfun(@isempty, strfind({failure.stack.file}, "native_")), 1);
    fprintf(stderr, "rank %d of %d, chapter %s, line %d: %s\n", c.rank, c.size, chapters{k}, failure.stack(here).line, failure.message);
    exit(1);
  end
  c.barrier();
end
mpi.finalize();
assert(mpi.initialized() && mpi.finalized());
expect_error("mpi:state", @() c.barrier());
expect_error("mpi:state", @() mpi.createInfo());
