% Damaged messages end in an error or in some value, never in a crash, and the next message is not
% disturbed.  python/tests/damage_for_octave.py sends them.
MPI_Init;
comm = MPI_COMM_WORLD;
count = MPI_Recv(1, 0, comm);
refused = 0;
for tag = 1:double(count)
  try
    values = {};
    [values{1:2}] = MPI_Recv(1, tag, comm);
    same_value(values, values);
  catch
    refused++;
  end
end
printf("%d of %d were refused\n", refused, count);
assert(refused > count / 4);
MPI_Send(1, 1, comm, rand(200), "sound");
[back, text] = MPI_Recv(1, '*', comm);
assert(size(back), [200 200]);
assert(text, "sound");
MPI_Finalize;
