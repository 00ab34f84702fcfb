function part = redistribute(steps, source, sizes, part)
% REDISTRIBUTE carries out a plan: sends, receives and places the pieces of an array.
%
%   part = postrider.redistribute(steps, source, sizes)
%   part = postrider.redistribute(steps, source, sizes, part)
%
% steps comes from postrider.maps.plan; source is the local part of the array as it is, sizes
% the size of the local part that results. The pieces are placed in part, and take its class;
% without part they make up an array of their own class. Numbers of all classes, logical, char,
% cells, complex and sparse arrays can be redistributed. All processes call this function
% together, those without a share as well.
p = postrider.pmatlab();
tag = postrider.next_tag();
for piece = steps.send
  MPI_Send(piece.rank, tag, p.comm, taken(source, piece.index));
end
fresh = nargin < 4;
if fresh
  part = [];
end
if ~isempty(steps.copy)
  [part, fresh] = put(part, fresh, sizes, steps.copy.to, taken(source, steps.copy.from));
end
for piece = steps.receive
  value = MPI_Recv(piece.rank, tag, p.comm);
  [part, fresh] = put(part, fresh, sizes, piece.index, value);
end
if fresh
  part = blank(source, sizes);
end

% The whole array is passed on as it is, which copies nothing.
function value = taken(source, index)
if whole(index, size(source))
  value = source;
  return
end
value = source(index{:});

function yes = whole(index, sizes)
sizes(end + 1:numel(index)) = 1;
yes = numel(sizes) == numel(index);
for d = 1:numel(index)
  list = index{d};
  yes = yes && numel(list) == sizes(d) && list(1) == 1 && list(end) == sizes(d) && ...
    (sizes(d) < 3 || all(diff(list) == 1));
end

function [part, fresh] = put(part, fresh, sizes, index, value)
if fresh
  fresh = false;
  if whole(index, sizes)
    part = value;
    return
  end
  part = blank(value, sizes);
elseif ~strcmp(class(value), class(part))
  value = feval(class(part), value);
end
part(index{:}) = value;

% An array of the class and kind of value.
function part = blank(value, sizes)
if issparse(value)
  part = sparse(sizes(1), sizes(2));
  if islogical(value)
    part = logical(part);
  end
elseif islogical(value)
  part = false(sizes);
elseif ischar(value)
  part = char(zeros(sizes));
elseif iscell(value)
  part = cell(sizes);
else
  part = zeros(sizes, class(value));
end
