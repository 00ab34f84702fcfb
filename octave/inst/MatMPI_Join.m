function MatMPI_Join(host_rank)
% MATMPI_JOIN  What a rank of MPI_Run does first: meets the session and the other ranks.
%
%   MatMPI_Join(host_rank)
%
% host_rank is 0 when the session is rank 0, and -1 when all ranks run in the background.
% MatMPI/MatMPIdefs<rank>.m calls it.
  global MPI_COMM_WORLD
  try
    found = load(fullfile('MatMPI', 'MPI_COMM_WORLD.mat'));
    if host_rank == 0
      stand_ins = str2double(getenv('MATMPI_RANK')) - str2double(getenv('POSTRIDER_RANK')) == 0;
      MatMPI_session('join', fullfile('MatMPI', 'port'), double(stand_ins));
    end
    facts = MatMPI_session('begin');
  catch problem
    MatMPI_Failed(problem);
  end
  MPI_COMM_WORLD = found.MPI_COMM_WORLD;
  MPI_COMM_WORLD.rank = facts(1);
  MPI_COMM_WORLD.handle = facts(3);

%!test    % A rank that finds no job in its directory ends; here another process.
%! folder = tempname();
%! mkdir(folder);
%! settings = MatMPI_Comm_settings();
%! program = sprintf('addpath(''%s''); cd(''%s''); MatMPI_Join(0)', ...
%!                   fileparts(which('MatMPI_Join')), folder);
%! [code, text] = system(sprintf('%s --no-init-file --eval "%s" 2>&1', settings.matlab_command, program));
%! assert(code, 1);
%! assert(~isempty(strfind(text, 'MPI_COMM_WORLD.mat')), text);
%! rmdir(folder);
