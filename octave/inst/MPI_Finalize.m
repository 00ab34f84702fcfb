function MPI_Finalize()
% MPI_FINALIZE  Ends a program's use of MPI.
%
%   MPI_Finalize
%
% Waits until everything has left that was sent, and tells the other ranks that nothing more comes.
% A rank that MPI_Run has started in the background ends here, with all its process; the session
% that called MPI_Run goes on, and can call MPI_Run again. A rank of a launcher (postrider run) goes
% on without MPI.
%
% MPI 5.0, section 11.2.3.
%
% Example: MPI_Init; disp(MPI_Comm_rank(MPI_COMM_WORLD)); MPI_Finalize;
  MatMPI_session('finish');
  if ~isempty(getenv('MATMPI_RANK'))
    exit(0);
  end

%!test    % A session goes on, and may begin again.
%! MPI_Init;
%! MPI_Finalize;
%! MPI_Init;
%! MPI_Send(0, 1, MPI_COMM_WORLD, 5);
%! assert(MPI_Recv(0, 1, MPI_COMM_WORLD), 5);
