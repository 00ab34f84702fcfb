function comm = MPI_COMM_WORLD
% MPI_COMM_WORLD All copies of the program, and how their messages are written.
%
%   comm = MPI_COMM_WORLD
%
% comm has the fields rank and size, directory, and format: '-binary' or '-text', which the variable FILES_FORMAT names. Text is what
% Octave saves by default, and what a port of the original writes therefore.
  comm.rank = str2double(getenv('BENCH_RANK'));
  comm.size = str2double(getenv('BENCH_SIZE'));
  comm.directory = getenv('BENCH_DIRECTORY');
  comm.format = ['-' getenv('FILES_FORMAT')];
  if isnan(comm.rank) || isempty(comm.directory)
    error('bench:start', 'there is no BENCH_RANK or BENCH_DIRECTORY: start the program by bench/octave/several');
  end
  if ~any(strcmp(comm.format, {'-binary', '-text'}))
    error('bench:format', 'FILES_FORMAT is ''%s'': it has to be binary or text', comm.format(2:end));
  end
end
