function MatMPI_Failed(problem)
% MATMPI_FAILED  What a rank of MPI_Run does after an error: says what and where, and ends with exit
%                code 1.
%
%   MatMPI_Failed(problem)
%
% problem is what `catch` gives. MatMPI/MatMPIdefs<rank>.m calls it.
  fprintf(2, 'error: %s\n', problem.message);
  for frame = problem.stack(:)'
    fprintf(2, '    in %s, line %d\n', frame.name, frame.line);
  end
  exit(1);
