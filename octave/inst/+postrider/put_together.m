function [value, wrong] = put_together(name, contents)
% PUT_TOGETHER  Makes what postrider.take_apart has taken apart.
%
%   [value, wrong] = postrider.put_together(name, contents)
%
% wrong is '', or says why there is no such value here. name and contents come from another process, and may be anything. The functions
% that receive values call this.
%
% See also: postrider.take_apart, mpi.allowFunctions.
  value = [];
  wrong = '';
  try
    if ~is_name(name)
      error('the message holds an object whose class has no name');
    end
    switch name
      case 'function_handle'
        value = function_of(contents);
      case 'containers.Map'
        value = map_of(contents);
      otherwise
        value = object_of(name, contents);
    end
  catch problem
    wrong = problem.message;
  end
end

function yes = is_name(text)
  yes = ischar(text) && ~isempty(regexp(text, '^[A-Za-z]\w*(\.[A-Za-z]\w*)*$', 'once'));
end

function f = function_of(contents)
  if ~isfield(contents, 'variables') && is_name(contents.text)
    f = str2func(contents.text);
  elseif mpi.allowFunctions()
    f = evaluated(contents);
  else
    error('the message holds the function %s; mpi.allowFunctions(true) allows other processes to send code to this one', contents.text);
  end
end

function postrider_made = evaluated(postrider_contents)
% The function captures variables of this one, whose own have names that it does not use.
  for postrider_name = fieldnames(postrider_contents.variables)'
    eval([postrider_name{1} ' = postrider_contents.variables.(postrider_name{1});']);
  end
  postrider_made = eval(postrider_contents.text);
end

function map = map_of(contents)
  map = containers.Map('KeyType', contents.KeyType, 'ValueType', contents.ValueType);
  for k = 1:numel(contents.keys)
    map(contents.keys{k}) = contents.values{k};
  end
end

function object = object_of(name, contents)
% Made by the constructor without arguments, as when it is loaded from a file. Only the name of such a class is called.
  if ~isempty(meta.class.fromName(name)) || ~any(strcmp(methods(name), name))
    error('the message holds an object of class %s, which is no old class on the path here', name);
  end
  object = feval(name);
  [~, own] = postrider.take_apart(object);
  if ~isequal(sort(fieldnames(own)), sort(fieldnames(contents)))
    error('the message holds an object of class %s with other fields than such an object has here', name);
  end
  for field = fieldnames(contents)'
    object = builtin('subsasgn', object, struct('type', '.', 'subs', field), contents.(field{1}));
  end
end
