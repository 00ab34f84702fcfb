function f = unpack(packed)
% UNPACK  The function handle that postrider.work.pack has made into a struct.
  for k = find(packed.handles(:))'
    packed.values{k} = postrider.work.unpack(packed.values{k});
  end
  if packed.text(1) == '@'
    f = anonymous(packed);
  else
    f = str2func(packed.text);
  end
end

function postrider_made = anonymous(postrider_packed)
% The names of its own variables are such that a captured one has another.
  for postrider_k = 1:numel(postrider_packed.names)
    eval([postrider_packed.names{postrider_k} ' = postrider_packed.values{postrider_k};']);
  end
  postrider_made = eval(postrider_packed.text);
end
