function [values, statuses] = waitall(varargin)
% WAITALL  Waits for requests, and gives what they received.
%
%   values = mpi.waitall(r)                a cell, one value for each operation: [] for sends
%   [values, statuses] = mpi.waitall(r, s, {t, u})
%
% Requests are objects of class mpi.Request, which may hold several operations, and cells of them.
%
% Example: r = c.Irecv(zeros(1, 3), '*', 5); s = c.Isend([1 2 3], c.rank, 5); values = mpi.waitall(r, s);
%
% Section 3.7.5 of the MPI standard, MPI_Waitall.
  if nargout < 2
    values = postrider_call('waitall', varargin{:});
  else
    [values, statuses] = postrider_call('waitall', varargin{:});
  end
end

%!test
%! c = mpi.world;
%! r = c.Irecv(zeros(1, 3), 0, 5);
%! s = c.Isend([1 2 3], 0, 5);
%! assert(mpi.waitall(r, s), {[1 2 3], []});

%!error id=mpi:argument mpi.waitall(5)
