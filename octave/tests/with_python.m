1;
% The Octave half of a job of two programs; python/tests/with_octave.py is the other.
% What Python makes of a value: text and lists have no shape there, and so 1 x 0 becomes 0 x 0.
function value = as_in_python(value)
  if (ischar(value) || iscell(value)) && isequal(size(value), [1 0])
    value = reshape(value, 0, 0);
  elseif iscell(value)
    value = reshape(cellfun(@as_in_python, value(:), "UniformOutput", false), size(value));
  end
end

MPI_Init;
comm = MPI_COMM_WORLD;
values = every_value();
MPI_Send(1, 1, comm, values);
back = MPI_Recv(1, 2, comm);
for k = 1:numel(values)
  if ! same_value(back{k}, as_in_python(values{k}))
    error("value %d, a %s, came back from Python changed", k, class(values{k}));
  end
end
[text, list, map, matrix, flag, big] = MPI_Recv('*', '*', comm);
assert(text, "gr\303\274\303\237e");
assert(list, {int64(1), 2.5, "x"});
assert(map, struct("a", int64(1), "b", struct("c", [])));
assert(matrix, [1 2 3; 4 5 6]);
assert(flag, true);
assert(big, reshape(0:89999, 300, 300)');
try
  MPI_Recv(1, 4, comm);
  error("no error for bytes that are no values");
catch problem
  assert(! isempty(strfind(problem.message, "is not one of values")));
end
[a, b] = MPI_Bcast(0, 5, comm, rand(3) > 2, "all");
[word, ones_of_python] = MPI_Recv(1, 6, comm);
assert(word, "done");
assert(numel(ones_of_python) == 1e6 && all(ones_of_python == 1));
% Tags that are texts, two with one hash, and numbers that are none of MPI's.
MPI_Send(1, 'tag-18164', comm, 'first', ones(200));
MPI_Send(1, 'tag-59000', comm, 'second');
MPI_Send(1, -5, comm, 'third');
[ranks, numbers, texts] = deal([]);
while numel(ranks) < 3
  [ranks, numbers, texts] = MPI_Probe(1, '*', comm);
end
assert(numbers, [NaN; NaN; 12]);
assert(texts, {'tag-18164'; 'tag-59000'; '12'});
assert(MPI_Recv(1, 'tag-59000', comm), 'b');
[a, big] = MPI_Recv(1, 'tag-18164', comm);
assert(a, 'a');
assert(size(big), [300 300]);
assert(MPI_Recv(1, 12, comm), 'c');
% What Python only carries.
MPI_Send(1, 13, comm, {@sin, containers.Map({'a', 'b'}, {1, @cos})});
objects = MPI_Recv(1, 14, comm);
assert(func2str(objects{1}), 'sin');
assert(objects{2}.keys(), {'a', 'b'});
assert(func2str(objects{2}('b')), 'cos');
MPI_Finalize;
