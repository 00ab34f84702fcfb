classdef Op
% OP  An operation of a reduction (section 6.9 of the MPI standard).
%
%   c.allreduce(value, mpi.Op('max')), or the name alone: c.allreduce(value, 'max')
%
% Names: '+' '*' 'max' 'min' '&' '|' 'xor' 'bitand' 'bitor' 'bitxor' 'maxloc' 'minloc' and, for windows, 'replace' and 'no_op'.
% An operation of the program's own is a function handle: c.allreduce(value, @f) applies f(f(v0, v1), v2)... in the order of ranks.
% Functions in lower case compute as the language does: integers saturate, NaN is left out of max and min.
%
% Example: m = c.allreduce(c.rank, mpi.Op('max'));
  properties (SetAccess = private)
    name
  end
  methods
    yes = isCommutative(o)
  end
  methods
    function o = Op(name)
      o.name = name;
    end
  end
end
