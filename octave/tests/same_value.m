% same_value(a, b): equal in value, class, shape, sparsity and complexity, all the way down.
function answer = same_value(a, b)
  answer = strcmp(class(a), class(b)) && isequal(size(a), size(b)) && ...
           issparse(a) == issparse(b) && iscomplex(a) == iscomplex(b);
  if ! answer
    return
  end
  if iscell(a)
    answer = all(cellfun(@same_value, a(:), b(:)));
  elseif isstruct(a)
    names = fieldnames(a);
    answer = isequal(names, fieldnames(b));
    for k = 1:numel(a)
      for f = 1:numel(names)
        answer = answer && same_value(a(k).(names{f}), b(k).(names{f}));
      end
    end
  elseif isfloat(a)
    answer = isequal(isnan(a), isnan(b)) && isequal(a(! isnan(a)), b(! isnan(b)));
  else
    answer = isequal(a, b);
  end
end
