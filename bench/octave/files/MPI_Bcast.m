function varargout = MPI_Bcast(source, tag, comm, varargin)
% MPI_BCAST One file for all receivers, with a link of its own for each.
%
%   [var1, ...] = MPI_Bcast(source, tag, comm, var1, ...)
%
% A shell makes the links. The source then waits until every receiver's lock is gone, one after the other, with 0.2 s between looks:
% only then can it delete the file.
  if comm.rank ~= source
    [varargout{1:max(nargout, 1)}] = MPI_Recv(source, tag, comm);
    return
  end
  varargout = varargin;
  others = [0:source - 1, source + 1:comm.size - 1];
  original = files_of_message(source, source, tag, comm);
  save(comm.format, original, 'varargin');
  links = cell(1, numel(others));
  locks = cell(1, numel(others));
  for i = 1:numel(others)
    [link, locks{i}] = files_of_message(source, others(i), tag, comm);
    links{i} = sprintf('ln -s ''%s'' ''%s'';', original, link);
  end
  if system([links{:}]) ~= 0
    error('bench:link', 'no links to %s: can its directory hold links?', original);
  end
  for i = 1:numel(others)
    fclose(fopen(locks{i}, 'w'));
  end
  for i = 1:numel(others)
    while exist(locks{i}, 'file')
      pause(0.2);
    end
  end
  delete(original);
end
