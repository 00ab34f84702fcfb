function r = transformed(d, f, n, dim)
% TRANSFORMED applies f(part, dim), which leaves n elements along dimension dim.
d = along(d, dim);
sizes = d.sizes;
sizes(dim) = n;
r = d;
if n ~= d.sizes(dim)
  r = dmat(sizes, d.map);
end
r.part = d.part;
if ~isempty(d.place)
  r.part = f(d.part, dim);
end
