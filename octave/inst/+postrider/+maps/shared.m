function [at_from, at_to] = shared(from, p, to, q, target)
% SHARED gives what position p of one distribution has for position q of another.
%
%   [at_from, at_to] = postrider.maps.shared(from, p, to, q)
%   [at_from, at_to] = postrider.maps.shared(from, p, to, q, target)
%
% from and to describe one dimension. at_from are the local indices, among those that p owns,
% of what q stores, and at_to are their local indices there. If target is given and not [],
% index k of from belongs to index target(k) of to; otherwise to index k. Unbroken lists are
% ranges, which take no memory and are fast indices.
%
% Example: 8 indices, from blocks of 4 to every second one: position 1 of both share the
% indices 1 and 3, so that at_from = [1 3] and at_to = [1 2].
if nargin < 5
  target = [];
end
if isempty(target) && one_run(from) && one_run(to)
  [at_from, at_to] = common_run(postrider.maps.ranges(from, p, true), postrider.maps.ranges(to, q));
  return
end
if isempty(target)
  list = postrider.maps.indices(to, q);
  at_to = 1:numel(list);
else
  [list, at_to] = postrider.maps.locate(to, q, target, false);
end
[which, at_from] = postrider.maps.locate(from, p, list, true);
at_from = as_range(at_from);
at_to = as_range(at_to(which));

function yes = one_run(dim)
yes = isempty(dim.stored) && dim.block * dim.parts >= dim.length;

function [at_from, at_to] = common_run(a, b)
at_from = [];
at_to = [];
if isempty(a) || isempty(b)
  return
end
first = max(a(1), b(1));
last = min(a(2), b(2));
if first <= last
  at_from = first - a(1) + 1:last - a(1) + 1;
  at_to = first - b(1) + 1:last - b(1) + 1;
end

function list = as_range(list)
if ~isempty(list) && list(end) - list(1) + 1 == numel(list) && all(diff(list) == 1)
  list = list(1):list(end);
end
