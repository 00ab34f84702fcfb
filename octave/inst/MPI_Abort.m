function MPI_Abort(comm, code)
% MPI_ABORT  Ends the ranks that MPI_Run has started, or the job that this process is a rank of.
%
%   MPI_Abort
%   MPI_Abort(comm, code)
%
% In a session it ends all ranks that MPI_Run has started from it or from this directory, and the
% session stays; when none run, it says 'No pid files found'. In a rank of a job it ends the job,
% with exit code code (1 if it is not given). comm is not looked at.
%
% MPI 5.0, section 9.8.
%
% Example: if any(isnan(x)), MPI_Abort; end
  if nargin < 2
    code = 1;
  end
  state = MatMPI_session('running');
  if all(state)
    MatMPI_session('abort', code);
  end
  ended = 0;
  for launcher = MatMPI_session('live')
    MatMPI_session('stop', launcher);
    ended = ended + 1;
  end
  files = dir(fullfile('MatMPI', 'pid.*'));
  for k = 1:numel(files)
    ended = ended + stop_by_file(files(k).name);
    delete(fullfile('MatMPI', files(k).name));
  end
  if ended == 0
    disp('No pid files found');
  end

% A launcher that another session has started; its number may be another process's by now.
function ended = stop_by_file(name)
  parts = regexp(name, '^pid\.(.*)\.(\d+)$', 'tokens', 'once');
  ended = 0;
  if isempty(parts)
    return
  end
  stop = sprintf('grep -qs MatMPI/MPI_Run.sh /proc/%s/cmdline && kill %s', parts{2}, parts{2});
  if ~matmpi_is_here(parts{1})
    settings = MatMPI_Comm_settings();
    stop = sprintf('%s %s %s ''%s''', settings.remote_launch, parts{1}, settings.remote_flags, stop);
  end
  ended = system(stop) == 0;

%!test    % In a session without ranks there is nothing to end.
%! folder = tempname();
%! mkdir(folder);
%! before = cd(folder);
%! unwind_protect
%!   assert(evalc('MPI_Abort'), sprintf('No pid files found\n'));
%! unwind_protect_cleanup
%!   cd(before);
%!   rmdir(folder);
%! end_unwind_protect
