% Values arrive although the user's path has functions with the names of Octave's own.
values = every_value();
folder = tempname();
mkdir(folder);
for name = {"cellfun", "complex", "full", "I", "iscellstr", "mat2cell", "merge", "reshape", ...
            "resize", "single", "str2func", "typeinfo"}
  file = fopen(fullfile(folder, [name{1}, ".m"]), "w");
  fprintf(file, "function varargout = %s(varargin)\n  error(\"the user's %s\");\nend\n", name{1}, name{1});
  fclose(file);
end
warning("off", "Octave:shadowed-function");
MPI_Init;
comm = MPI_COMM_WORLD;
rank = MPI_Comm_rank(comm);
got = cell(size(values));
addpath(folder);
MPI_Send(rank, 1, comm, values{:});
[got{:}] = MPI_Recv(rank, 1, comm);
rmpath(folder);
confirm_recursive_rmdir(false);
rmdir(folder, "s");
assert(all(cellfun(@same_value, got, values)));
MPI_Finalize;
