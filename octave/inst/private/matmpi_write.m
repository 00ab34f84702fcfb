function matmpi_write(file, text)
% MATMPI_WRITE  Writes a text into a file.
  [written, why] = fopen(file, 'w');
  if written < 0
    error('Postrider:file', 'cannot write %s: %s', file, why);
  end
  fwrite(written, text);
  fclose(written);
