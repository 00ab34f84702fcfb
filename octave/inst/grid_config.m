function config = grid_config(varargin)
% GRID_CONFIG  The processors that grid_status, grid_run and pRUN(..., 'grid') use.
%
%   config = grid_config()
%   config = grid_config(name, value, ...)
%
% kind        'slurm' or 'hosts'; 'slurm' by itself where sinfo answers
% machines    cell array with the names of hosts, for 'hosts'; reached by ssh. {} is this host
% partition   of Slurm; '' is its default
% options     cell array with further options of salloc, such as {'--time=60'}
%
% Values stay until the session ends.
%
% Example:
%   grid_config('machines', {'n1', 'n2'});
%   grid_status
  persistent kept
  if isempty(kept)
    kept = struct('kind', 'hosts', 'machines', {{}}, 'partition', '', 'options', {{}});
    if system('sinfo --noheader >/dev/null 2>&1') == 0
      kept.kind = 'slurm';
    end
  end
  for k = 1:2:numel(varargin)
    if ~isfield(kept, varargin{k}) || k == numel(varargin)
      error('Postrider:grid', 'grid_config has values for kind, machines, partition and options');
    end
    kept.(varargin{k}) = varargin{k + 1};
    if strcmp(varargin{k}, 'machines')
      kept.kind = 'hosts';
    end
  end
  config = kept;

%!test    % Values stay.
%! before = grid_config();
%! grid_config('machines', {'n1', 'n2'});
%! config = grid_config();
%! assert(config.kind, 'hosts');
%! assert(config.machines, {'n1', 'n2'});
%! grid_config('machines', before.machines, 'kind', before.kind);

%!error id=Postrider:grid grid_config('no such name', 1)
%!error id=Postrider:grid grid_config('machines')
