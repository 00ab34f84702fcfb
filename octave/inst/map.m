classdef map
% MAP says how an array is distributed among ranks.
%
%   m = map(grid_spec, dist_spec, proc_list)
%   m = map(grid_spec, dist_spec, proc_list, overlap)
%   m = map(other)
%
% grid_spec is the number of parts in each dimension, [2 3] for instance. dist_spec is {} for
% blocks in all dimensions, 'b' or 'c' for blocks or single indices dealt out in turn in all
% dimensions, or a struct array with the fields dist ('b', 'c', or 'bc' for blocks of b_size
% dealt out in turn) and b_size, one for each dimension or one for all. proc_list has the rank
% of each part, the first dimension fastest; no rank twice. overlap is the number of indices in
% each dimension of which a part has copies from the next one (blocks only): synch brings them
% up to date. other is a map, or a struct with the fields of one.
%
% The block of 'b' is ceil(N / parts) long: the last parts are shorter or empty.
%
% Fields: dim (number of dimensions), proc_list, dist_spec (struct array), grid (array of
% ranks), overlap ([] if there is none).
%
% A map is the last argument of what makes a distributed array: zeros, ones, rand, randn, eye,
% cell, sparse, spalloc, scatter. Where it is 1 instead, the same program makes plain arrays.
%
% Errors: pMatlab:map if the arguments do not fit.
%
% Example: A = zeros(100, 100, map([1 Np], {}, 0:Np-1));    % blocks of columns
%
% From: pMatlab 2.0.15.
  properties
    dim = 0
    proc_list = []
    dist_spec = struct('dist', {})
    grid = []
    overlap = []
  end
  methods
    function m = map(grid_spec, dist_spec, proc_list, overlap)
      if nargin == 1
        for name = {'dim', 'proc_list', 'dist_spec', 'grid', 'overlap'}
          m.(name{1}) = grid_spec.(name{1});
        end
        return
      elseif nargin == 0
        return
      elseif nargin < 3
        error('pMatlab:map', 'a map has a grid, a distribution and a list of ranks');
      end
      if ~isnumeric(grid_spec) || any(grid_spec < 1) || any(grid_spec ~= fix(grid_spec))
        error('pMatlab:map', 'the grid of a map consists of whole numbers from 1');
      end
      if numel(proc_list) ~= prod(grid_spec)
        error('pMatlab:map', 'the grid has %d parts, but the list has %d ranks', prod(grid_spec), ...
          numel(proc_list));
      end
      ranks = sort(proc_list(:));
      if any(ranks < 0 | ranks ~= fix(ranks)) || any(diff(ranks) == 0)
        error('pMatlab:map', 'the list of a map has ranks from 0, each once');
      end
      m.dim = numel(grid_spec);
      m.proc_list = proc_list;
      m.dist_spec = map.distributions(dist_spec, m.dim);
      m.grid = reshape(proc_list, [grid_spec(:)' 1]);
      if nargin == 4
        m.overlap = overlap;
        map.check_overlap(m);
      end
    end

    function yes = eq(a, b)
      yes = a.dim == b.dim && isequal(a.proc_list, b.proc_list) && isequal(a.grid, b.grid) && ...
        isequal(a.overlap, b.overlap) && isequal(a.dist_spec, b.dist_spec);
    end

    function yes = ne(a, b)
      yes = ~eq(a, b);
    end

    % Tells whether rank r has a part.
    function yes = inmap(m, r)
      yes = any(m.proc_list(:) == r);
    end

    % The map of the transposed array: grid and distributions change places.
    function t = transpose(m)
      if m.dim ~= 2
        error('pMatlab:map', 'only a map of two dimensions can be transposed, this one has %d', m.dim);
      end
      t = m;
      t.grid = m.grid.';
      t.dist_spec = m.dist_spec([2 1]);
      if ~isempty(m.overlap)
        t.overlap = m.overlap([2 1]);
      end
    end

    function t = ctranspose(m)
      t = transpose(m);
    end

    function d = zeros(varargin), d = map.make(@zeros, varargin); end
    function d = ones(varargin), d = map.make(@ones, varargin); end
    function d = rand(varargin), d = map.make(@rand, varargin); end
    function d = randn(varargin), d = map.make(@randn, varargin); end
    function d = cell(varargin), d = map.make(@cell, varargin); end

    function d = eye(varargin)
      d = map.make(@zeros, varargin);
      rows = global_ind(d, 1);
      columns = global_ind(d, 2);
      d = put_local(d, feval(class(local(d)), bsxfun(@eq, rows(:), columns(:)')));
    end

    % SPARSE(M, N, P), SPARSE(I, J, S, P), SPARSE(I, J, S, M, N, P) or SPARSE(I, J, S, M, N, NZMAX, P):
    % every rank gives all elements and keeps its own.
    function d = sparse(varargin)
      m = varargin{end};
      switch nargin
        case 3
          entries = {[], [], []};
          sizes = [varargin{1:2}];
        case 4
          entries = varargin(1:3);
          sizes = [max([entries{1}(:); 0]), max([entries{2}(:); 0])];
        case {6, 7}
          entries = varargin(1:3);
          sizes = [varargin{4:5}];
        otherwise
          error('pMatlab:arguments', 'sparse with a map has 3, 4, 6 or 7 arguments');
      end
      d = put_local(dmat(sizes, m), map.sparse_part(dmat(sizes, m), entries));
    end

    function d = spalloc(rows, columns, room, m) %#ok<INUSL>
      d = sparse(rows, columns, m);
    end

    % Distributes the array that the leader has; the others may give anything, [] for instance.
    function d = scatter(whole, m)
      p = postrider.pmatlab();
      sizes = multicast(p.leader, setdiff(0:p.comm_size - 1, p.leader), size(whole));
      sizes(end + 1:m.dim) = 1;
      d = dmat(sizes, m);
      d = take(d, whole);
    end

    function display(m)
      fprintf('%s =\n', inputname(1));
      disp(m);
    end

    function disp(m)
      fprintf('  map of %d dimensions, ranks:\n', m.dim);
      disp(m.grid);
      fprintf('  distribution: %s\n', strjoin({m.dist_spec.dist}, ' '));
      if ~isempty(m.overlap)
        fprintf('  overlap: %s\n', num2str(m.overlap));
      end
    end
  end
  methods (Static, Access = private)
    % A struct array with a distribution for each dimension.
    function dist = distributions(given, count)
      if isempty(given)
        given = 'b';
      end
      if ischar(given)
        given = struct('dist', given);
      end
      if ~isstruct(given) || ~isfield(given, 'dist') || ~any(numel(given) == [1 count])
        error('pMatlab:map', ['the distribution is {}, ''b'', ''c'', or a struct array with the field dist ' ...
          'for each of the %d dimensions'], count);
      end
      dist = given(:)';
      if numel(dist) < count
        dist = repmat(dist, 1, count);
      end
      for d = 1:count
        if ~any(strcmp(dist(d).dist, {'b', 'c', 'bc'}))
          error('pMatlab:map', 'the distribution of dimension %d is none of b, c and bc', d);
        end
        if strcmp(dist(d).dist, 'bc') && (~isfield(dist, 'b_size') || isempty(dist(d).b_size) || dist(d).b_size < 1)
          error('pMatlab:map', 'distribution bc of dimension %d has no block size b_size from 1', d);
        end
      end
    end

    function check_overlap(m)
      if numel(m.overlap) ~= m.dim || any(m.overlap < 0)
        error('pMatlab:map', 'the overlap is a number from 0 for each of the %d dimensions', m.dim);
      end
      if ~all(strcmp({m.dist_spec.dist}, 'b'))
        error('pMatlab:map', 'only blocks (''b'') can overlap');
      end
    end

    % An array of the sizes, with the map and perhaps the class, that args end with.
    function d = make(fill, args)
      type = {};
      if ischar(args{end})
        type = args(end);
        args(end) = [];
      end
      if ~isa(args{end}, 'map')
        error('pMatlab:arguments', 'the last argument, before the class if there is one, is the map');
      end
      d = dmat([args{1:end - 1}], args{end});
      d = put_local(d, fill(local_size(d), type{:}));
    end

    function part = sparse_part(d, entries)
      [rows, at_rows] = map.mine(d, 1, entries{1});
      [columns, at_columns] = map.mine(d, 2, entries{2});
      both = rows & columns;
      values = entries{3}(:);
      if numel(values) == 1
        values = repmat(values, numel(both), 1);
      end
      n = local_size(d);
      part = sparse(at_rows(both), at_columns(both), values(both), n(1), n(2));
    end

    function [here, at] = mine(d, dimension, list)
      stored = global_ind(d, dimension);
      [here, at] = ismember(list(:), stored(:));
    end
  end
end

%!test    % Blocks of columns.
%! m = map([1 4], {}, 0:3);
%! assert(m.dim, 2);
%! assert(m.proc_list, 0:3);
%! assert(m.grid, 0:3);

%!test    % The same program with and without a map.
%! for m = {1, map([1 Np], {}, 0:Np-1)}
%!   A = zeros(3, 5, m{1}) + 2;
%!   assert(agg(A), 2 * ones(3, 5));
%! end

%!error id=pMatlab:map map([1 4], {})
%!error id=pMatlab:map map([1 4], {}, 0:2)
%!error id=pMatlab:map map([1 2], {}, [0 0])
%!error id=pMatlab:map map([1 1], 'c', 0, [0 1])

%!demo
%! m = map([1 Np], {}, 0:Np-1);            % blocks of columns, one for each rank
%! A = zeros(4, 6, m);
%! A(:, :) = magic(6)(1:4, :);
%! B = fft(A);                             % of each column, where it is
%! largest = max(abs(agg(B)(:)))
