function finalize()
% FINALIZE  Ends the use of MPI: no function of it can be called any more.  A program that just ends does the same.
%
% Example: c = mpi.world; c.barrier(); mpi.finalize();
%
% Section 11.2.2 of the MPI standard, MPI_Finalize.
  postrider_call('finish');
end

%!test    % In a process of its own, since nothing can be called afterwards.
%! settings = MatMPI_Comm_settings();
%! program = sprintf('addpath(''%s''); c = mpi.world; mpi.finalize; disp(mpi.finalized); c.barrier();', ...
%!                   fileparts(which('MatMPI_Comm_settings')));
%! [code, text] = system(sprintf('%s --no-init-file --eval "%s" 2>&1', settings.matlab_command, program));
%! assert(code, 1);
%! assert(~isempty(regexp(text, '^1\s+error: ', 'once')), text);
