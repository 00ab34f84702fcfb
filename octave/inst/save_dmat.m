function save_dmat(x, file)
% SAVE_DMAT writes a distributed array into one binary file.
%
%   save_dmat(D, file)
%
% The file has the elements in the order of the whole array, the first dimension fastest, in
% the class of the parts and the byte order of the machine, without a header. Every rank writes
% its own part; they share the file system. All ranks call it, and afterwards the file is
% complete. A plain array is written as it is.
%
% Errors: pMatlab:file if the file cannot be written, pMatlab:class if the elements are not
% numbers.
%
% Example: save_dmat(D, 'D.bin');  f = fopen('D.bin'); A = fread(f, size(D), 'double=>double'); fclose(f);
%
% From: pMatlab 2.0.15.
if ~isnumeric(x)
  error('pMatlab:class', 'save_dmat writes arrays of numbers, not of class %s', class(x));
end
[handle, reason] = fopen(file, 'w');
if handle < 0
  error('pMatlab:file', 'cannot open %s: %s', file, reason);
end
close_it = onCleanup(@() fclose(handle)); %#ok<NASGU>
if fwrite(handle, full(x), class(x)) ~= numel(x)
  error('pMatlab:file', 'the disk did not take all of %s', file);
end

%!test
%! file = tempname();
%! unwind_protect
%!   save_dmat(remap(magic(4), map([1 Np], {}, 0:Np-1)), file);
%!   in = fopen(file);
%!   assert(fread(in, [4 4], 'double'), magic(4));
%!   fclose(in);
%! unwind_protect_cleanup
%!   delete(file);
%! end_unwind_protect

%!error id=pMatlab:class save_dmat('text', tempname())
%!error id=pMatlab:file save_dmat(1, fullfile(tempname(), 'no', 'such', 'folder'))

%!demo
%! file = tempname();
%! save_dmat(remap(int16(magic(4)), map([1 Np], {}, 0:Np-1)), file);
%! in = fopen(file);
%! A = fread(in, [4 4], 'int16=>int16')
%! fclose(in);
%! delete(file);
