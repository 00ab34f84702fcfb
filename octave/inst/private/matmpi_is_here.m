function here = matmpi_is_here(machine)
% MATMPI_IS_HERE  Whether a name is that of this host: its name, with or without its domain, or
%                 localhost.
  host = matmpi_host();
  short = strtok(host, '.');
  here = any(strcmp(machine, {host, short, 'localhost', '127.0.0.1'})) || strncmp(machine, [short '.'], numel(short) + 1);
