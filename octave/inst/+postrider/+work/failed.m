function piece = failed(exception, first)
% FAILED  A piece of which nothing could be computed, or received, as postrider.work.evaluate describes pieces.
  piece = struct('first', first, 'last', first, 'values', {{}}, 'silent', false, 'problem', postrider.work.problem(exception, first));
end
