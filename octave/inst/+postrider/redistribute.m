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
%
% Full arrays of one class go in one MPI_Alltoallw, straight from and to their places, by
% datatypes that are kept with the plan. Everything else goes as messages of values.
p = postrider.pmatlab();
tag = postrider.next_tag();
if nargin < 4
  part = [];
end
fresh = nargin < 4;
if p.comm_size > 1
  [direct, source] = agreed(p, source, part, fresh);
  if direct
    part = at_once(p, steps, source, sizes, part);
    return
  end
end
for piece = steps.send
  MPI_Send(piece.rank, tag, p.comm, taken(source, piece.index));
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

% Whether all processes have full arrays of one class. Where one of them has complex numbers all
% others take theirs for complex as well. A process without elements goes along with the others.
function [yes, source] = agreed(p, source, part, fresh)
classes = {'double', 'single', 'logical', 'char', 'int8', 'uint8', 'int16', 'uint16', 'int32', 'uint32', 'int64', 'uint64'};
code = find(strcmp(class(source), classes));
odd = issparse(source) || issparse(part) || isempty(code) || (~fresh && ~strcmp(class(source), class(part)));
if odd
  facts = [0 0 1 0];
elseif isempty(source) && isempty(part)
  facts = [0 -numel(classes) - 1 0 0];
else
  facts = [code -code 0 ~(isreal(source) && isreal(part))];
end
facts = postrider_call('Comm.Allreduce', handle_of(p), facts, 'max');
yes = facts(3) == 0 && facts(1) > 0 && facts(1) == -facts(2);
if yes && isempty(source)
  source = feval(classes{facts(1)}, zeros(size(source)));
end
if yes && facts(4)
  source = complex(source);
end

function handle = handle_of(p)
persistent number known
if isempty(number) || number ~= p.comm.handle
  number = p.comm.handle;
  known = postrider_call('raw.handle', number);
end
handle = known;

function part = at_once(p, steps, source, sizes, part)
if ~isreal(source) && isreal(part) && ~isempty(part)
  part = complex(part);
end
[to, from] = postrider.piece_types(steps, source, sizes, p);
part = postrider_call('exchange', handle_of(p), source, to, sizes, part, from);
if isempty(steps.key)
  for type = [to from]
    if ~isempty(type{1})
      type{1}.free();
    end
  end
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
end
part(index{:}) = postrider.same_class(value, part);

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
