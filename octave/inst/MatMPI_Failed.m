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

%!test    % It ends the process: here another one.
%! settings = MatMPI_Comm_settings();
%! program = sprintf('addpath(''%s''); try, error(''too hot''), catch e, MatMPI_Failed(e), end', ...
%!                   fileparts(which('MatMPI_Failed')));
%! [code, text] = system(sprintf('%s --no-init-file --eval "%s" 2>&1', settings.matlab_command, program));
%! assert(code, 1);
%! assert(~isempty(strfind(text, 'error: too hot')));
