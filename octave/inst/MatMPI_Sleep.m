function MatMPI_Sleep()
% MATMPI_SLEEP  Waits a hundredth of a second, for programs that look for messages again and again.
%
%   MatMPI_Sleep
%
% Example: MatMPI_Sleep;
  pause(0.01);

%!test MatMPI_Sleep();
