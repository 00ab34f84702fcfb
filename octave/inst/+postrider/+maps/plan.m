function steps = plan(from, to, rank, target)
% PLAN lists what a rank sends, receives and copies when an array changes its layout.
%
%   steps = postrider.maps.plan(from, to, rank)
%   steps = postrider.maps.plan(from, to, rank, target)
%
% from and to are layouts (postrider.maps.layout) with the same number of dimensions. target,
% if given, is a cell with a list for each dimension, [] for all: index k of from becomes index
% target{d}(k) of to.
%
%   steps.send      struct array: rank, and index, a cell of local indices for each dimension
%   steps.receive   the same for what arrives
%   steps.key       '', or a name by which others keep what belongs to the plan
%   steps.copy      what stays here: struct array, empty or 1-by-1, with the cells from and to
% A rank sends each other at most one piece, and pieces without elements do not exist. What a
% rank stores is filled from its owner, so copies are filled as well.
if nargin < 4
  target = cell(1, numel(from.dims));
end
here = postrider.maps.position(from, rank);
there = postrider.maps.position(to, rank);
none = struct('rank', {}, 'index', {});
steps = struct('send', none, 'receive', none, 'copy', struct('from', {}, 'to', {}), 'key', '');
if ~isempty(here)
  tables = cell(1, numel(to.dims));
  for d = 1:numel(to.dims)
    for q = 1:to.shape(d)
      tables{d}{q} = postrider.maps.shared(from.dims(d), here(d), to.dims(d), q, target{d});
    end
  end
  steps.send = pieces_of(to, tables, rank);
end
if ~isempty(there)
  tables = cell(1, numel(to.dims));
  for d = 1:numel(to.dims)
    for p = 1:from.shape(d)
      [~, tables{d}{p}] = postrider.maps.shared(from.dims(d), p, to.dims(d), there(d), target{d});
    end
  end
  steps.receive = pieces_of(from, tables, rank);
end
mine = find([steps.send.rank] == rank);
if ~isempty(mine)
  back = find([steps.receive.rank] == rank);
  steps.copy = struct('from', {steps.send(mine).index}, 'to', {steps.receive(back).index});
  steps.send(mine) = [];
  steps.receive(back) = [];
end

% One piece for each peer that has a share, beginning behind the rank itself, so that not all
% ranks send to the same one first.
function pieces = pieces_of(layout, tables, rank)
pieces = struct('rank', {}, 'index', {});
[~, order] = sort(mod(layout.grid(:) - rank - 1, max([layout.grid(:); rank]) + 1));
for number = order'
  p = postrider.maps.subscripts(layout.shape, number);
  index = cell(1, numel(p));
  for d = 1:numel(p)
    index{d} = tables{d}{p(d)};
  end
  if ~any(cellfun('isempty', index))
    pieces(end + 1) = struct('rank', layout.grid(number), 'index', {index}); %#ok<AGROW>
  end
end
