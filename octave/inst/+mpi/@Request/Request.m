classdef Request < handle
% REQUEST  A nonblocking or persistent operation, or several of them (section 3.7 of the MPI standard).
%
%   r = c.irecv(source, tag);  value = r.wait();
%   [done, value] = r.test();
%   r = [c.irecv(left, 1), c.irecv(right, 2)];  values = mpi.waitall(r);     a cell, one value for each
%   [index, value] = mpi.waitany(r)    and waitsome testall testany testsome startall
%
% A receive gives its value to the first wait or test that completes it, later ones give [].  Requests of sends have [] for a value.
% Arrays that are sent, and those received into, are kept by the request: the program need not.
%
%   r = c.SendInit(buffer, dest, tag);  r.start();  r.wait();        buffer is an mpi.Buffer
%   r = c.PsendInit(buffer, partitions, dest, tag);  r.start();  r.pready(partition)     partitions count from 0
%
% Example: r = c.Irecv(zeros(1, 3), '*', 5); c.Send([1 2 3], c.rank, 5); A = r.wait();
  properties (SetAccess = private)
    handle
  end
  methods
    [value, status] = wait(r)
    [done, value, status] = test(r)
    [done, status] = getStatus(r)
    start(r)
    cancel(r)
    pready(r, partition)
    preadyRange(r, first, last)
    preadyList(r, partitions)
    arrived = parrived(r, partition)
  end
  methods
    function r = Request(handle)
      r.handle = handle;
    end
    function r = horzcat(varargin)
      handles = [];
      for k = 1:nargin
        if ~isempty(varargin{k})
          handles = [handles, varargin{k}.handle];
        end
      end
      r = mpi.Request(handles);
      postrider_call('Request.retain', r);
    end
    function r = vertcat(varargin)
      r = horzcat(varargin{:});
    end
    function n = count(r)
      % How many operations it stands for.
      n = numel(r.handle);
    end
    function delete(r)
      if any(r.handle)
        postrider_call('Request.release', r);
        r.handle = 0;
      end
    end
    function disp(r)
      fprintf('  mpi.Request of %d operations\n', numel(r.handle));
    end
  end
end

%!test
%! c = mpi.world;
%! both = [c.irecv('*', 1), c.irecv('*', 2)];
%! c.send('one', 0, 1);
%! c.send('two', 0, 2);
%! assert(both.wait(), {'one', 'two'});
