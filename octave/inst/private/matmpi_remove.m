function matmpi_remove(folder)
% MATMPI_REMOVE  Removes a directory and what is in it; nothing if there is none.
  if ~exist(folder, 'dir')
    return
  end
  if exist('OCTAVE_VERSION', 'builtin')
    asked = confirm_recursive_rmdir(false);
    back = onCleanup(@() confirm_recursive_rmdir(asked));
  end
  [done, why] = rmdir(folder, 's');
  if ~done
    error('Postrider:directory', 'cannot remove %s: %s', folder, why);
  end
