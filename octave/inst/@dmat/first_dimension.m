function dim = first_dimension(d)
% FIRST_DIMENSION is the first dimension whose length is not 1, along which functions work.
dim = find(d.sizes ~= 1, 1);
if isempty(dim)
  dim = 1;
end
