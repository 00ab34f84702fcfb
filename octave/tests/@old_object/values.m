function v = values(o)
  v = o.values;
end
