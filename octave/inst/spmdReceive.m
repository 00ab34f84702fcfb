function [A, source, tag] = spmdReceive(source, tag)
% SPMDRECEIVE  Waits for a value from another worker, and receives it.
%
%   A = spmdReceive                         from any worker
%   A = spmdReceive(source)
%   A = spmdReceive(source, tag)
%   [A, source, tag] = spmdReceive(...)
%
% source is the index of a worker, or 'any' (also '' or []); without a tag, or with [], every tag matches. The second and third result
% say from which worker the value came, and with which tag.
%
% Errors: mpi:rank for an index that is no worker's. A worker that waits for what it has not sent itself is told so.
%
% Example:
%   for k = 2:spmdSize, [x, from] = spmdReceive('any', 7); fprintf('worker %d: %g\n', from, x); end
%
% labReceive is the older name. In the standard: MPI_Recv, section 3.2.4.
%
% See also: spmdSend, spmdProbe.
  if nargin < 1
    source = [];
  end
  if nargin < 2
    tag = [];
  end
  c = mpi.world();
  [A, status] = c.recv(spmd_source('spmdReceive', source), tag);
  if nargout > 1
    source = status.source + 1;
    tag = status.tag;
  end
end

%!test
%! spmdSend({'a', 1:3}, 1, 5);
%! [A, source, tag] = spmdReceive('any', 5);
%! assert({A, source, tag}, {{'a', 1:3}, 1, 5});

%!error id=mpi:rank spmdReceive(2)
