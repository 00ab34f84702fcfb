% Topologies (chapter 8).
function native_topologies(c)
  n = c.size;
  dims = mpi.dimsCreate(n, [0 0]);
  assert(prod(dims), n);
  assert(mpi.dimsCreate(n, [n 0]), [n 1]);
  expect_error("mpi:dims", @() mpi.dimsCreate(n, [n + 1, 0]));
  cart(c, n, dims);
  graph(c, n);
  distributed(c, n);
  assert(c.topology(), mpi.UNDEFINED);
  expect_error("mpi:topology", @() c.cartCoords(0));
  expect_error("mpi:topology", @() c.cartDim());
  expect_error("mpi:argument", @() c.createCart([n 1], true));
  expect_error("mpi:argument", @() c.createGraph(1:n, zeros(1, n + 1)));
end

function cart(c, n, dims)
  d = c.createCart(dims, [true false]);
  assert(d.topology(), mpi.CART);
  assert(d.cartDim(), 2);
  [its_dims, periods, coordinates] = d.cartGet();
  assert(its_dims, dims);
  assert(periods, [1 0]);
  assert(coordinates, [floor(d.rank / dims(2)), mod(d.rank, dims(2))]);
  assert(d.cartCoords(d.rank), coordinates);
  assert(d.cartRank(coordinates), d.rank);
  [source, dest] = d.cartShift(0);
  assert(d.cartCoords(dest), [mod(coordinates(1) + 1, dims(1)), coordinates(2)]);
  [source, dest] = d.cartShift(1, dims(2));
  assert([source dest], [mpi.PROC_NULL, mpi.PROC_NULL]);
  expect_error("mpi:argument", @() d.cartRank(0));
  expect_error("mpi:argument", @() d.cartSub(1));
  row = d.cartSub([false true]);
  assert(row.size, dims(2));
  assert(row.rank, coordinates(2));
  assert(c.cartMap(n, true) >= 0);
  if n > 1
    e = c.createCart(n - 1, false, true);
    assert(isempty(e), c.rank == n - 1 && isempty(e));
  end
  d.free();
end

function graph(c, n)
  % A ring.
  index = 2 * (1:n);
  edges = [mod((0:n - 1) - 1, n); mod((0:n - 1) + 1, n)];
  g = c.createGraph(index, edges);
  assert(g.topology(), mpi.GRAPH);
  [nodes, count] = g.graphDims();
  assert([nodes, count], [n, 2 * n]);
  [its_index, its_edges] = g.graphGet();
  assert(its_index, index);
  assert(its_edges, edges(:)');
  assert(g.graphNeighborsCount(0), 2);
  assert(g.graphNeighbors(g.rank), edges(:, g.rank + 1)');
  assert(c.graphMap(index, edges) >= 0);
end

function distributed(c, n)
  left = mod(c.rank - 1, n);
  right = mod(c.rank + 1, n);
  d = c.createDistGraphAdjacent(left, right, 5, 6);
  assert(d.topology(), mpi.DIST_GRAPH);
  [sources, destinations, weighted] = d.distGraphNeighborsCount();
  assert([sources, destinations, weighted], [1 1 1]);
  [sources, destinations, source_weights, dest_weights] = d.distGraphNeighbors();
  assert([sources, destinations, source_weights, dest_weights], [left, right, 5, 6]);
  e = c.createDistGraph(c.rank, 1, right);
  [sources, destinations] = e.distGraphNeighbors();
  assert([sources, destinations], [left, right]);
  [~, ~, weighted] = e.distGraphNeighborsCount();
  assert(! weighted);
  e = c.createDistGraph(c.rank, 2, [right, left], [3 4], struct("a", "b"), false);
  [sources, destinations, ~, weights] = e.distGraphNeighbors();
  assert(sort(destinations), sort([left, right]));
  assert(sort(weights), [3 4]);
  expect_error("mpi:argument", @() c.createDistGraph(c.rank, 2, right));
  expect_error("mpi:argument", @() c.createDistGraphAdjacent(left, right, [1 2]));
end
