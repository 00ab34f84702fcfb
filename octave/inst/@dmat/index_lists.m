function lists = index_lists(d, subs)
% INDEX_LISTS checks an index and gives a list for each dimension, ':' for all of it.
count = numel(d.sizes);
if numel(subs) == 1 && count == 2 && any(d.sizes == 1)
  lists = {1, 1};
  if ischar(subs{1})
    lists = {':', ':'};
  else
    lists{1 + (d.sizes(1) == 1)} = subs{1};
  end
  subs = lists;
end
if numel(subs) ~= count
  error('pMatlab:index', 'a distributed array of %d dimensions has %d indices, here are %d', count, count, ...
    numel(subs));
end
lists = cell(1, count);
for k = 1:count
  list = subs{k};
  if ischar(list) && isequal(list, ':')
    lists{k} = ':';
    continue
  end
  if isa(list, 'logical')
    list = find(list);
  end
  list = double(list(:)');
  if any(list < 1 | list > d.sizes(k) | list ~= fix(list))
    error('pMatlab:index', 'dimension %d has the indices 1 to %d, which %g is not', k, d.sizes(k), ...
      list(find(list < 1 | list > d.sizes(k) | list ~= fix(list), 1)));
  end
  if numel(list) == d.sizes(k) && numel(list) > 1 && isequal(list, 1:d.sizes(k))
    list = ':';
  end
  lists{k} = list;
end
