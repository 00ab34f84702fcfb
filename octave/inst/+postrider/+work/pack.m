function packed = pack(f)
% PACK  A function handle as a struct that can be sent: its text, and for an anonymous function the variables that it has captured.
%
%   packed = postrider.work.pack(f)
%   f = postrider.work.unpack(packed)
%
% A receiver that unpacks it runs code that came with a message. The workers of a pool do so, because the session that sends it has
% started them for this; nothing else does.
  known = functions(f);
  packed = struct('text', func2str(f), 'names', {{}}, 'values', {{}}, 'handles', []);
  if strcmp(known.type, 'anonymous') && ~isempty(known.workspace)
    captured = known.workspace{1};
    packed.names = fieldnames(captured);
    packed.values = struct2cell(captured);
    packed.handles = cellfun(@(value) isa(value, 'function_handle'), packed.values);
    for k = find(packed.handles(:))'
      packed.values{k} = postrider.work.pack(packed.values{k});
    end
  end
end
