classdef File < handle
% FILE  A file that processes read and write together (chapter 14 of the MPI standard).
%
%   f = mpi.File.open(c, 'data.bin', 'create|rdwr');
%   f.setView(offset, 'double', mpi.Datatype.subarray([100 100], {rows, ':'}));      offset in bytes
%   f.writeAll(A);  B = f.readAtAll(0, zeros(size(A)));
%   f.close();
%
% Offsets of accesses are in elements of the view, from 0.  read write readAt writeAt, with All collective, with Shared and Ordered
% by the shared pointer, with i in front nonblocking; seek seekShared getPosition getSize setSize preallocate sync setAtomicity.
% Modes: rdonly rdwr wronly create excl delete_on_close unique_open sequential append, with | between them, or 'r', 'w', 'r+'.
%
% Example: f = mpi.File.open(c, 'data', 'create|rdwr'); f.writeAt(8 * c.rank, uint8(1:8)); f.close();
  properties (SetAccess = private)
    handle
  end
  methods (Static)
    function f = open(c, name, mode, info)
      % Opens a file, collectively.
      if nargin < 3
        mode = 'rdonly';
      end
      if nargin < 4
        info = [];
      end
      f = mpi.File(postrider_call('File.begin', c, name, number_of(mode), info));
    end
    function remove(name)
      % Deletes a file (MPI_File_delete).
      mpi.deleteFile(name);
    end
  end
  methods
    setSize(f, bytes)
    preallocate(f, bytes)
    bytes = getSize(f)
    group = getGroup(f)
    mode = getAmode(f)
    info = getInfo(f)
    setInfo(f, info)
    setView(f, offset, etype, filetype, representation, info)
    [offset, etype, filetype, representation] = getView(f)
    [array, status] = readAt(f, offset, like)
    [array, status] = readAtAll(f, offset, like)
    status = writeAt(f, offset, array)
    status = writeAtAll(f, offset, array)
    [array, status] = read(f, like)
    [array, status] = readAll(f, like)
    [array, status] = readShared(f, like)
    [array, status] = readOrdered(f, like)
    status = write(f, array)
    status = writeAll(f, array)
    status = writeShared(f, array)
    status = writeOrdered(f, array)
    request = ireadAt(f, offset, like)
    request = ireadAtAll(f, offset, like)
    request = iwriteAt(f, offset, array)
    request = iwriteAtAll(f, offset, array)
    request = iread(f, like)
    request = ireadAll(f, like)
    request = ireadShared(f, like)
    request = iwrite(f, array)
    request = iwriteAll(f, array)
    request = iwriteShared(f, array)
    readAtAllBegin(f, offset, buffer)
    status = readAtAllEnd(f, buffer)
    writeAtAllBegin(f, offset, buffer)
    status = writeAtAllEnd(f, buffer)
    readAllBegin(f, buffer)
    status = readAllEnd(f, buffer)
    writeAllBegin(f, buffer)
    status = writeAllEnd(f, buffer)
    readOrderedBegin(f, buffer)
    status = readOrderedEnd(f, buffer)
    writeOrderedBegin(f, buffer)
    status = writeOrderedEnd(f, buffer)
    seek(f, offset, whence)
    seekShared(f, offset, whence)
    offset = getPosition(f)
    offset = getPositionShared(f)
    bytes = getByteOffset(f, offset)
    bytes = getTypeExtent(f, type)
    setAtomicity(f, atomic)
    atomic = getAtomicity(f)
    sync(f)
    callErrhandler(f, code)
  end
  methods
    function f = File(handle)
      f.handle = handle;
    end
    function close(f)
      % Closes the file, collectively.
      postrider_call('release', f);
      f.handle = 0;
    end
  end
end

function number = number_of(mode)
% MPI_MODE_ constants of the standard ABI (section 20.3).
  names = {'append', 'create', 'delete_on_close', 'excl', 'rdonly', 'rdwr', 'sequential', 'unique_open', 'wronly'};
  numbers = [1 2 4 8 16 32 64 128 256];
  switch mode
    case 'r', mode = 'rdonly';
    case 'w', mode = 'create|wronly';
    case 'r+', mode = 'rdwr';
  end
  parts = strsplit(mode, '|');
  number = 0;
  for k = 1:numel(parts)
    found = strcmp(parts{k}, names);
    if ~any(found)
      error('mpi:amode', 'mpi.File.open: ''%s'' is no mode; there are %s', parts{k}, strjoin(names, ', '));
    end
    number = number + numbers(found);
  end
end

%!test
%! file = tempname();
%! f = mpi.File.open(mpi.world, file, 'create|rdwr');
%! f.setView(0, 'double', 'double');
%! f.writeAt(2, [1 2 3]);
%! assert(f.readAt(2, zeros(1, 3)), [1 2 3]);
%! f.close();
%! delete(file);

%!error id=mpi:noSuchFile mpi.File.open(mpi.world, tempname(), 'rdonly')
