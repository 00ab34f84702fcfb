classdef Datatype < handle
% DATATYPE  Where in an array the elements of a message are, by index (chapter 5 of the MPI standard).
%
%   T = mpi.Datatype.subarray(size(A), {2:5, ':'});             the elements A(2:5, :)
%   c.Send({A, T}, dest, tag)
%   T = mpi.Datatype.vector(count, blocklength, stride)         in elements; 'double' unless a class is given last
%   T = mpi.Datatype.indexed(lengths, starts)                   runs of elements, which start at starts, from 1
%   T = mpi.Datatype.contiguous(count)
%   T = mpi.Datatype.struct(types, counts, displacements)       displacements in bytes
%   T = mpi.Datatype('int32')                                   that of a class; 'complex double', 'byte'
%
% An array and a datatype go together as {A, T} or {A, count, T}.  Datatypes are ready for use when they are made.
%
% Example: t = mpi.Datatype.subarray([10 10], {2:3, ':'}); c.Send({rand(10), t}, 1);
  properties (SetAccess = private)
    handle
  end
  methods (Static)
    function t = subarray(extent, indices, element)
      % The elements A(indices{:}) of an array of size `extent`: indices are lists from 1, in any order, or ':'.
      if nargin < 3
        element = 'double';
      end
      extent = double(extent);
      for k = 1:numel(indices)
        if ischar(indices{k})
          indices{k} = 1:extent(k);
        elseif islogical(indices{k})
          indices{k} = find(indices{k});
        end
      end
      t = postrider_call('Datatype.byIndex', extent, indices, element);
    end
    function t = contiguous(count, element)
      % `count` elements side by side.
      if nargin < 2
        element = 'double';
      end
      t = postrider_call('raw.contiguous', element, count);
    end
    function t = vector(count, blocklength, stride, element)
      % `count` blocks of `blocklength` elements; each starts `stride` elements after the one before.
      if nargin < 4
        element = 'double';
      end
      t = postrider_call('raw.vector', element, count, blocklength, stride);
    end
    function t = hvector(count, blocklength, stride, element)
      % The same with a stride in bytes.
      if nargin < 4
        element = 'double';
      end
      t = postrider_call('raw.hvector', element, count, blocklength, stride);
    end
    function t = indexed(lengths, starts, element)
      % Runs of lengths(k) elements from element starts(k) on; one length may stand for all.
      if nargin < 3
        element = 'double';
      end
      if isscalar(lengths)
        t = postrider_call('raw.indexedBlock', element, lengths, starts - 1);
      else
        t = postrider_call('raw.indexed', element, lengths, starts - 1);
      end
    end
    function t = hindexed(lengths, displacements, element)
      % Runs at displacements in bytes, from 0.
      if nargin < 3
        element = 'double';
      end
      if isscalar(lengths)
        t = postrider_call('raw.hindexedBlock', element, lengths, displacements);
      else
        t = postrider_call('raw.hindexed', element, lengths, displacements);
      end
    end
    function t = struct(types, counts, displacements)
      % Of a cell of datatypes or classes, how many of each, and where, in bytes from 0.  With one argument, a struct whose fields are
      % arrays: their elements side by side, in the order of the fields.
      if nargin == 1
        values = struct2cell(types);
        types = cellfun(@name_of_elements, values, 'UniformOutput', false);
        counts = cellfun(@numel, values);
        sizes = cellfun(@(name) getSize(mpi.Datatype(name)), types);
        displacements = [0; cumsum(counts(1:end-1) .* sizes(1:end-1))];
      end
      t = postrider_call('raw.structure', types, counts, displacements);
    end
    function t = darray(size, rank, gsizes, distributions, arguments, psizes, element)
      % The part of one process of a distributed array (section 5.1.4), in the order of columns.
      if nargin < 7
        element = 'double';
      end
      t = postrider_call('raw.darray', element, size, rank, gsizes, distributions, arguments, psizes);
    end
  end
  methods
    bytes = getSize(t)
    [lower, extent] = getExtent(t)
    [lower, extent] = getTrueExtent(t)
    name = getName(t)
    setName(t, name)
    u = dup(t)
    u = resized(t, lower, extent)
    bytes = packSize(t, count, c)
    bytes = packExternalSize(t, count)
    [combiner, types, integers, addresses, counts] = getContents(t)
  end
  methods
    function t = Datatype(handle)
      if ischar(handle)
        handle = postrider_call('Datatype.handleOf', handle);
      end
      t.handle = handle;
    end
    function free(t)
      postrider_call('release', t);
      t.handle = 0;
    end
    function disp(t)
      fprintf('  mpi.Datatype of %d bytes\n', t.getSize());
    end
  end
end

function name = name_of_elements(value)
  name = class(value);
  if ~isreal(value)
    name = ['complex ' name];
  end
end

%!test
%! c = mpi.world;
%! A = magic(6);
%! T = mpi.Datatype.subarray(size(A), {[1 3 5], ':'});
%! r = c.Irecv({zeros(6), T}, 0, 1);
%! c.Send({A, T}, 0, 1);
%! B = r.wait();
%! assert(B([1 3 5], :), A([1 3 5], :));
%! assert(B([2 4 6], :), zeros(3, 6));
