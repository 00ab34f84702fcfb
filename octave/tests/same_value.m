% same_value(a, b): equal in class, shape, sparsity, complexity and every bit, all the way down.
function answer = same_value(a, b)
  answer = strcmp(class(a), class(b)) && isequal(size(a), size(b)) && ...
           issparse(a) == issparse(b) && iscomplex(a) == iscomplex(b);
  if ! answer
    return
  end
  if iscell(a)
    answer = all(cellfun(@same_value, a(:), b(:)));
  elseif isstruct(a)
    answer = isequal(fieldnames(a), fieldnames(b)) && same_value(struct2cell(a), struct2cell(b));
  elseif issparse(a)
    [rows, columns, elements] = find(a);
    [its_rows, its_columns, its_elements] = find(b);
    answer = isequal(rows, its_rows) && isequal(columns, its_columns) && ...
             same_bits(elements, its_elements);
  else
    answer = same_bits(a, b);
  end
end

function answer = same_bits(a, b)
  if isfloat(a)
    answer = isequal(bytes(real(a)), bytes(real(b))) && ...
             (! iscomplex(a) || isequal(bytes(imag(a)), bytes(imag(b))));
  else
    answer = isequal(a, b);
  end
end

function all = bytes(numbers)
  all = typecast(full(numbers)(:), "uint8");
end
