function steps = cached_plan(from, to, rank)
% CACHED_PLAN is postrider.maps.plan, which remembers the last plans of this process.
%
%   steps = postrider.cached_plan(from, to, rank)
%
% A program redistributes between the same maps again and again; the plan, with its lists of
% indices, is made once. Selections have no key and are not kept. steps.key names the plan.
persistent keys plans next
if isempty(from.key) || isempty(to.key)
  steps = postrider.maps.plan(from, to, rank);
  return
end
if isempty(keys)
  keys = repmat({''}, 1, 32);
  plans = cell(1, 32);
  next = 1;
end
key = sprintf('%s> %s> %d', from.key, to.key, rank);
at = find(strcmp(key, keys), 1);
if isempty(at)
  at = next;
  next = mod(next, numel(keys)) + 1;
  plans{at} = postrider.maps.plan(from, to, rank);
  plans{at}.key = key;
  keys{at} = key;
end
steps = plans{at};
