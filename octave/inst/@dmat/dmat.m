classdef dmat
% DMAT is a distributed array: each rank of its map has a part.
%
% Distributed arrays are made by zeros, ones, rand, randn, eye, cell, sparse, spalloc and
% scatter with a map as last argument (help map), with the class behind it where those
% functions take one.
%
%   A(:, :) = B, A(2:5, :) = B      B is distributed over any map, or plain and the same
%                                   everywhere, or a scalar: data move as needed
%   A(3, :), A(2:5, 1:7)            a distributed array; its elements stay where they are
%   A + B, A .* 2, sin(A), A * B    on the parts, with the map of A
%   A.map, A.dim, A.size, A.local, A.pitfalls, A.falls, A.global_ind
%   local, put_local, agg, ...      see docs/DISTRIBUTED_ARRAYS.md
%
% All ranks execute these together; only reading an element, and assigning scalars and plain
% arrays, send nothing. An index costs some 500 microseconds: loops go over local(A).
%
% Errors: pMatlab:size if sizes do not fit, pMatlab:index for an index that does not exist,
% pMatlab:dimension if map and array differ in their number of dimensions.
%
% From: pMatlab 2.0.15.

% map, sizes and layout (postrider.maps.layout) are the same on all ranks. place is where this rank is
% in the grid, [] if it is not; extent is the size of its part by the map; part is that part, or
% whatever put_local has put in.
  properties
    map = []
    sizes = [0 0]
    layout = []
    place = []
    extent = [0 0]
    part = []
  end
  methods
    % DMAT(SIZES, M) describes the array; the local part is put in with put_local. With a third
    % argument the layout is given and does not follow from the map.
    function d = dmat(sizes, m, layout)
      if nargin == 0
        return
      end
      if numel(sizes) == 1
        if m.dim == 1
          sizes = [sizes 1];
        else
          sizes = [sizes sizes];
        end
      end
      d.map = m;
      d.sizes = sizes;
      if nargin == 3
        d = laid(d, layout);
        return
      end
      if numel(sizes) ~= m.dim && ~(m.dim == 1 && numel(sizes) == 2 && sizes(2) == 1)
        error('pMatlab:dimension', 'the map has %d dimensions, the array %d', m.dim, numel(sizes));
      end
      dist = m.dist_spec;
      overlap = m.overlap;
      if m.dim == 1
        dist(2) = dist(1);
        overlap(end + 1:2 * ~isempty(overlap)) = 0;
      end
      d = laid(d, postrider.maps.layout(sizes, m.grid, dist, overlap));
    end

    function varargout = subsref(d, s)
      switch s(1).type
        case '()'
          value = chosen(d, s(1).subs);
        case '.'
          value = field(d, s(1).subs);
        otherwise
          error('pMatlab:index', 'a distributed array has no index in braces');
      end
      if numel(s) > 1
        value = subsref(value, s(2:end));
      end
      varargout = {value};
    end

    function d = subsasgn(d, s, value)
      switch s(1).type
        case '()'
          if numel(s) > 1
            error('pMatlab:index', 'assign to a distributed array with one index, A(...) = B');
          end
          d = assign(d, s(1).subs, value);
        case '.'
          if ~strcmp(s(1).subs, 'local')
            error('pMatlab:field', 'the field %s of a distributed array cannot be assigned', s(1).subs);
          elseif numel(s) > 1
            value = subsasgn(d.part, s(2:end), value);
          end
          d.part = value;
        otherwise
          error('pMatlab:index', 'a distributed array has no index in braces');
      end
    end

    function last = end(d, k, count)
      last = d.sizes(k);
      if k == count
        last = prod(d.sizes(k:end));
      end
    end

    function varargout = size(d, dimensions)
      if nargin == 2
        lengths = [d.sizes, ones(1, max([dimensions(:); 0]))];
        lengths = lengths(dimensions);
      else
        lengths = d.sizes;
      end
      if nargout <= 1
        varargout = {lengths};
        return
      end
      lengths(end + 1:nargout) = 1;
      if nargin < 2
        lengths(nargout) = prod(lengths(nargout:end));
      end
      varargout = num2cell(lengths(1:nargout));
    end

    % Octave asks for numel before D.local = X, without a name for the argument, and refuses the
    % assignment unless the answer is 1.
    function n = numel(d, varargin)
      n = prod(d.sizes);
      if exist('OCTAVE_VERSION', 'builtin') && nargin == 1 && isempty(inputname(1, false))
        n = 1;
      end
    end

    % MATLAB would take numel for the number of values of D.local.
    function n = numArgumentsFromSubscript(d, s, context), n = 1; end %#ok<INUSD>

    function n = ndims(d), n = numel(d.sizes); end
    function n = length(d), n = max([d.sizes, 0]) * all(d.sizes > 0); end
    function yes = isempty(d), yes = any(d.sizes == 0); end

    function display(d)
      fprintf('%s =\n', inputname(1));
      disp(d);
    end

    % Every rank calls it; the leader shows the whole array, the others their part.
    function disp(d)
      fprintf('  distributed array of size %s\n', strjoin(arrayfun(@(n) sprintf('%d', n), d.sizes, ...
        'UniformOutput', false), 'x'));
      disp(agg(d));
    end

    function part = local(d), part = d.part; end
    function d = put_local(d, part), d.part = part; end
    function g = grid(d), g = d.map.grid; end

    % The size of this rank's part by the map; put_local may have put in something else.
    function n = local_size(d), n = d.extent; end

    function p = pitfalls(d)
      for k = numel(d.sizes):-1:1
        p(k) = postrider.maps.pitfalls(d.layout.dims(k));
      end
    end

    % Element by element, on the local part.
    function r = abs(d), r = each(d, @abs); end
    function r = acos(d), r = each(d, @acos); end
    function r = acosd(d), r = each(d, @acosd); end
    function r = acosh(d), r = each(d, @acosh); end
    function r = acot(d), r = each(d, @acot); end
    function r = acotd(d), r = each(d, @acotd); end
    function r = acoth(d), r = each(d, @acoth); end
    function r = acsc(d), r = each(d, @acsc); end
    function r = acscd(d), r = each(d, @acscd); end
    function r = acsch(d), r = each(d, @acsch); end
    function r = angle(d), r = each(d, @angle); end
    function r = asec(d), r = each(d, @asec); end
    function r = asecd(d), r = each(d, @asecd); end
    function r = asech(d), r = each(d, @asech); end
    function r = asin(d), r = each(d, @asin); end
    function r = asind(d), r = each(d, @asind); end
    function r = asinh(d), r = each(d, @asinh); end
    function r = atan(d), r = each(d, @atan); end
    function r = atand(d), r = each(d, @atand); end
    function r = atanh(d), r = each(d, @atanh); end
    function r = ceil(d), r = each(d, @ceil); end
    function r = conj(d), r = each(d, @conj); end
    function r = cos(d), r = each(d, @cos); end
    function r = cosd(d), r = each(d, @cosd); end
    function r = cosh(d), r = each(d, @cosh); end
    function r = cot(d), r = each(d, @cot); end
    function r = cotd(d), r = each(d, @cotd); end
    function r = coth(d), r = each(d, @coth); end
    function r = csc(d), r = each(d, @csc); end
    function r = cscd(d), r = each(d, @cscd); end
    function r = csch(d), r = each(d, @csch); end
    function r = exp(d), r = each(d, @exp); end
    function r = expm1(d), r = each(d, @expm1); end
    function r = fix(d), r = each(d, @fix); end
    function r = floor(d), r = each(d, @floor); end
    function r = full(d), r = each(d, @full); end
    function r = imag(d), r = each(d, @imag); end
    function r = log(d), r = each(d, @log); end
    function r = log1p(d), r = each(d, @log1p); end
    function r = log10(d), r = each(d, @log10); end
    function r = log2(d), r = each(d, @log2); end
    function r = not(d), r = each(d, @not); end
    function r = real(d), r = each(d, @real); end
    function r = reallog(d), r = each(d, @reallog); end
    function r = realsqrt(d), r = each(d, @realsqrt); end
    function r = round(d), r = each(d, @round); end
    function r = sec(d), r = each(d, @sec); end
    function r = secd(d), r = each(d, @secd); end
    function r = sech(d), r = each(d, @sech); end
    function r = sign(d), r = each(d, @sign); end
    function r = sin(d), r = each(d, @sin); end
    function r = sind(d), r = each(d, @sind); end
    function r = sinh(d), r = each(d, @sinh); end
    function r = sparse(d), r = each(d, @sparse); end
    function r = sqrt(d), r = each(d, @sqrt); end
    function r = tan(d), r = each(d, @tan); end
    function r = tand(d), r = each(d, @tand); end
    function r = tanh(d), r = each(d, @tanh); end
    function r = uminus(d), r = each(d, @uminus); end
    function r = uplus(d), r = d; end

    % Conversions, on the local part.
    function r = char(d), r = each(d, @char); end
    function r = double(d), r = each(d, @double); end
    function r = int8(d), r = each(d, @int8); end
    function r = int16(d), r = each(d, @int16); end
    function r = int32(d), r = each(d, @int32); end
    function r = int64(d), r = each(d, @int64); end
    function r = logical(d), r = each(d, @logical); end
    function r = single(d), r = each(d, @single); end
    function r = uint8(d), r = each(d, @uint8); end
    function r = uint16(d), r = each(d, @uint16); end
    function r = uint32(d), r = each(d, @uint32); end
    function r = uint64(d), r = each(d, @uint64); end

    % Operators and functions of two arrays, of which one may be plain.
    function r = and(a, b), r = binfun(@and, a, b); end
    function r = eq(a, b), r = binfun(@eq, a, b); end
    function r = ge(a, b), r = binfun(@ge, a, b); end
    function r = gt(a, b), r = binfun(@gt, a, b); end
    function r = ldivide(a, b), r = binfun(@ldivide, a, b); end
    function r = le(a, b), r = binfun(@le, a, b); end
    function r = lt(a, b), r = binfun(@lt, a, b); end
    function r = minus(a, b), r = binfun(@minus, a, b); end
    function r = ne(a, b), r = binfun(@ne, a, b); end
    function r = or(a, b), r = binfun(@or, a, b); end
    function r = plus(a, b), r = binfun(@plus, a, b); end
    function r = power(a, b), r = binfun(@power, a, b); end
    function r = rdivide(a, b), r = binfun(@rdivide, a, b); end
    function r = realpow(a, b), r = binfun(@realpow, a, b); end
    function r = times(a, b), r = binfun(@times, a, b); end

    function r = complex(a, b)
      if nargin == 1
        r = each(a, @complex);
      else
        r = binfun(@complex, a, b);
      end
    end

    function r = pow2(a, b)
      if nargin == 1
        r = each(a, @pow2);
      else
        r = binfun(@pow2, a, b);
      end
    end

    function r = mrdivide(a, b)
      if prod(size(b)) ~= 1 %#ok<PSIZE>
        error('pMatlab:size', 'A / B with distributed arrays needs a scalar B');
      end
      r = binfun(@rdivide, a, b);
    end

    function r = mldivide(a, b)
      if prod(size(a)) ~= 1 %#ok<PSIZE>
        error('pMatlab:size', 'A \ B with distributed arrays needs a scalar A');
      end
      r = binfun(@ldivide, a, b);
    end
  end
  methods (Access = private)
    function d = laid(d, layout)
      world = postrider.pmatlab();
      d.layout = layout;
      d.place = postrider.maps.position(layout, world.my_rank);
      d.extent = postrider.maps.local_size(layout, d.place);
    end

    function r = each(d, f)
      r = d;
      r.part = f(d.part);
    end

    function value = field(d, name)
      switch name
        case 'map'
          value = d.map;
        case 'local'
          value = d.part;
        case 'size'
          value = d.sizes;
        case 'dim'
          value = numel(d.sizes);
        case 'pitfalls'
          value = pitfalls(d);
        case 'falls'
          value = falls(d);
        case 'global_ind'
          value = cell(1, numel(d.sizes));
          [value{:}] = global_ind(d);
        otherwise
          error('pMatlab:field', ['%s is no field of a distributed array: those are map, dim, size, ' ...
            'pitfalls, falls, local and global_ind'], name);
      end
    end

    function f = falls(d)
      p = d.place;
      f = -ones(1, numel(d.sizes));
      if ~isempty(p)
        f = struct([]);
        for k = numel(p):-1:1
          f = [postrider.maps.falls(d.layout.dims(k), p(k)), f]; %#ok<AGROW>
        end
      end
    end
  end
end
