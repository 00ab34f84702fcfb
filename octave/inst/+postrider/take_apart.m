function [name, contents] = take_apart(value)
% TAKE_APART  What a message carries of a function handle, a containers.Map or an object of an old class (a folder @name).
%
%   [name, contents] = postrider.take_apart(value)
%
% name is the name of the class, or '' for what cannot be sent; contents is a struct. docs/VALUE_ENCODING.md lists the fields. The
% functions that send values call this.
%
% See also: postrider.put_together, mpi.allowFunctions.
  name = class(value);
  contents = [];
  switch name
    case 'function_handle'
      contents = of_function(value);
    case 'containers.Map'
      contents = struct('keys', {keys(value)}, 'values', {values(value)}, 'KeyType', value.KeyType, 'ValueType', value.ValueType);
    otherwise
      if isobject(value) && isscalar(value) && isempty(meta.class.fromName(name))
        contents = of_object(value);
      else
        name = '';
      end
  end
end

function contents = of_function(f)
  known = functions(f);
  contents = struct('text', func2str(f));
  if strcmp(known.type, 'anonymous')
    contents.variables = struct();
    if ~isempty(known.workspace)
      contents.variables = known.workspace{1};
    end
  end
end

function contents = of_object(value)
% Looking into an object is what both languages warn of.
  state = warning('off', 'all');
  restore = onCleanup(@() warning(state));
  contents = builtin('struct', value);
end
