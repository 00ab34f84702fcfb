function r = maxloc(a, b)
% MAXLOC  Of two {value, location} the one whose value is larger; the lower location of equal ones.
%
%   r = c.allreduce({x, c.rank}, 'maxloc'), or 'minloc'
%
% Values may be arrays, compared element by element, with a location for each.  Section 6.9.4 of the MPI standard.
%
% Example: m = c.allreduce({sin(c.rank), c.rank}, 'maxloc');
  r = a;
  take = b{1} > a{1} | (b{1} == a{1} & b{2} < a{2});
  r{1}(take) = b{1}(take);
  r{2} = a{2} + zeros(size(take));
  locations = b{2} + zeros(size(take));
  r{2}(take) = locations(take);
end

%!assert(mpi.maxloc({[1 5], [0 0]}, {[4 5], [1 1]}), {[4 5], [1 0]})

%!test
%! c = mpi.world;
%! assert(c.allreduce({7, c.rank}, 'maxloc'), {7, 0});
