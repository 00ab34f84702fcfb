function key = createKeyval(copied)
% CREATEKEYVAL  A key for attributes of communicators, whose values are of any kind.
%
%   key = mpi.createKeyval(true);  c.setAttr(key, struct('a', 1));  d = c.dup();  d.getAttr(key)
%
% With `copied` (false by default) a duplicate of a communicator has the value, too.  Section 7.7.2 of the MPI standard.
%
% Example: key = mpi.createKeyval(); c.setAttr(key, {'any', 'value'}); x = c.getAttr(key);
  if nargin == 0
    copied = false;
  end
  key = postrider_call('keyval', copied);
end

%!test
%! c = mpi.world;
%! key = mpi.createKeyval(true);
%! c.setAttr(key, struct('a', 1));
%! d = c.dup();
%! assert(d.getAttr(key), struct('a', 1));
%! d.free();
%! c.deleteAttr(key);
