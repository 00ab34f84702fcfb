function rq = qr(a)
% QR: orthogonal-triangular factors of a square distributed matrix.
%
%   RQ = qr(A)
%
% RQ is n-by-2n with the map of A: R = RQ(:, 1:n) is upper triangular, Q = RQ(:, n+1:2n) is
% orthogonal, and A = Q' * R. The leader collects A, computes, and distributes RQ: it needs the
% memory for all of it.
%
% Errors: pMatlab:size if A is not square.
if numel(a.sizes) ~= 2 || a.sizes(1) ~= a.sizes(2)
  error('pMatlab:size', 'qr of a distributed array needs a square matrix, this one has size %s', mat2str(a.sizes));
end
world = postrider.pmatlab();
whole = agg(a);
if world.my_rank == world.leader
  [q, r] = qr(full(whole));
  whole = [r, q'];
end
rq = take(dmat([a.sizes(1), 2 * a.sizes(1)], a.map), whole);
