function [name, type, folder, background] = matmpi_parse_machine(text)
% MATMPI_PARSE_MACHINE  The parts of machine['&'][':unix'|':pc'][:folder]; what is not given is empty.
  background = any(text == '&');
  [name, rest] = strtok([strrep(text, '&', '') ':'], ':');
  rest = rest(2:end - 1);
  if isempty(name) || text(1) == ':'
    error('Postrider:machine', ...
          '''%s'' names no machine; the form is machine[&][:unix|:pc][:folder]', text);
  end
  type = '';
  folder = rest;
  [first, behind] = strtok(rest, ':');
  if any(strcmp(first, {'unix', 'pc'}))
    type = first;
    folder = behind(2:end);
  end
