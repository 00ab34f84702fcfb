function version = MatlabMPI_ver()
% MATLABMPI_VER  The version of MatlabMPI whose functions these are.
%
%   MatlabMPI_ver
%   version = MatlabMPI_ver()
%
% Example: disp(MatlabMPI_ver);
  version = '1.2';
  if nargout == 0
    fprintf('MatlabMPI functions of version %s, on Postrider\n', version);
    clear version
  end

%!assert(MatlabMPI_ver(), '1.2')
%!assert(~isempty(strfind(evalc('MatlabMPI_ver'), 'version 1.2')))
