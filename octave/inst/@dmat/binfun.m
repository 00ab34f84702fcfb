function r = binfun(f, a, b)
% BINFUN: a function of two arrays, element by element, of which one is distributed.
%
%   R = binfun(f, A, B)
%
% The result has the map of A, or that of B if A is plain. A plain array is the same on all
% ranks; in dimensions of length 1 it is extended. If both are distributed they have the same
% size; if their maps differ, B is redistributed first.
%
% Errors: pMatlab:size if the sizes do not fit.
%
% Example: R = binfun(@max, A, 0);
%
% From: pMatlab 2.0.15.
if isa(a, 'dmat') && isa(b, 'dmat')
  if ~isequal(a.sizes, b.sizes)
    error('pMatlab:size', 'distributed arrays of size %s and %s', mat2str(a.sizes), mat2str(b.sizes));
  end
  if ~postrider.maps.same(a.layout, b.layout)
    b = laid_out(b, a);
  end
  r = a;
  r.part = f(a.part, b.part);
elseif isa(a, 'dmat')
  r = a;
  r.part = f(a.part, share(b, a));
else
  r = b;
  r.part = f(share(a, b), b.part);
end

% What this rank needs of a plain array.
function x = share(x, d)
if numel(x) == 1
  return
end
sizes = size(x);
sizes(end + 1:numel(d.sizes)) = 1;
if numel(sizes) > numel(d.sizes) || any(sizes ~= d.sizes & sizes ~= 1)
  error('pMatlab:size', 'a distributed array of size %s and a plain one of size %s', mat2str(d.sizes), ...
    mat2str(size(x)));
end
index = cell(1, numel(sizes));
for k = 1:numel(sizes)
  index{k} = 1;
  if sizes(k) ~= 1
    index{k} = global_ind(d, k);
  end
end
x = x(index{:});
