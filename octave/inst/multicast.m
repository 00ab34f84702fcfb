function data = multicast(src, dst, data)
% MULTICAST sends a value from one rank to several.
%
%   data = multicast(src, dst, data)
%
% src is a rank and dst a list of others. On src and all of dst the result is the value that
% src gives; on other ranks it is the argument. All ranks call it. Who has the value passes it
% on, so that N ranks need log2(N) steps.
%
% Example: parameters = multicast(0, 1:Np-1, parameters);
%
% See also: BcastMsg. From: pMatlab 2.0.15.
world = postrider.pmatlab();
tag = postrider.next_tag();
if isempty(src)
  return
end
line = [src, reshape(dst, 1, [])];
place = find(line == world.my_rank, 1) - 1;
if isempty(place)
  return
end
step = 1;
while step < numel(line)
  if place < step
    if place + step < numel(line)
      MPI_Send(line(place + step + 1), tag, world.comm, data);
    end
  elseif place < 2 * step
    data = MPI_Recv(line(place - step + 1), tag, world.comm);
  end
  step = 2 * step;
end

%!assert(multicast(0, [], {'for all'}), {'for all'})
%!assert(multicast([], [], 5), 5)
