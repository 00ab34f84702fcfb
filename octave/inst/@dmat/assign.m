function d = assign(d, subs, value)
% ASSIGN is A(subs) = value, for a distributed, a plain or a scalar value.
if numel(subs) == 1 && ischar(subs{1})
  subs = repmat({':'}, 1, numel(d.sizes));
end
lists = index_lists(d, subs);
wanted = d.sizes;
for k = 1:numel(lists)
  if ~ischar(lists{k})
    wanted(k) = numel(lists{k});
  end
end
if isa(value, 'dmat')
  d = from_distributed(d, lists, wanted, value);
else
  d = from_plain(d, lists, wanted, value);
end

function d = from_distributed(d, lists, wanted, value)
if ~isequal(wanted, size(value))
  value = fitted(value, wanted);
end
if any(wanted == 0)
  return
end
all_of_it = cellfun(@(list) ischar(list), lists);
world = postrider.pmatlab();
if all(all_of_it)
  if postrider.maps.same(d.layout, value.layout)
    d.part = postrider.same_class(value.part, d.part);
    return
  end
  steps = postrider.cached_plan(value.layout, d.layout, world.my_rank);
else
  lists(all_of_it) = {[]};
  steps = postrider.maps.plan(value.layout, d.layout, world.my_rank, lists);
end
value = checked(value);
d = checked(d);
d.part = postrider.redistribute(steps, value.part, size(d.part), d.part);

% A plain value is the same everywhere, and each rank takes its share. As in pMatlab it may
% also be this rank's share itself.
function d = from_plain(d, lists, wanted, value)
p = d.place;
if isempty(p)
  return
end
here = cell(1, numel(lists));
share = cell(1, numel(lists));
for k = 1:numel(lists)
  if ischar(lists{k})
    share{k} = postrider.maps.indices(d.layout.dims(k), p(k));
    here{k} = ':';
  else
    [share{k}, here{k}] = postrider.maps.locate(d.layout.dims(k), p(k), lists{k}, false);
  end
end
counts = cellfun('prodofsize', share);
if numel(value) ~= 1
  if same_shape(size(value), wanted)
    value = reshape(value, wanted);
    value = value(share{:});
  elseif same_shape(size(value), counts)
    value = reshape(value, counts);
  elseif all(counts > 0)
    error('pMatlab:size', 'A(...) = B: the index means a size of %s, and B has %s', mat2str(wanted), ...
      mat2str(size(value)));
  end
end
if all(counts > 0)
  d = checked(d);
  d.part(here{:}) = postrider.same_class(value, d.part);
end

function yes = same_shape(a, b)
yes = isequal(a(a ~= 1), b(b ~= 1));
