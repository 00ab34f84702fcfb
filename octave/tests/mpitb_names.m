% All of MPI-TB's names are there with their help, and every function is called by one of the tests.
postrider.use('mpitb');
folder = fileparts(which('MPI_Waitsome'));
files = dir(fullfile(folder, 'MPI_*.m'));
names = cellfun(@(file) file(1:end-2), {files.name}, 'UniformOutput', false);
is_constant = ~cellfun(@isempty, regexp(names, '^MPI_[A-Z_]+$'));
assert(sum(is_constant), 137);
assert(sum(~is_constant), 135);
here = fileparts(mfilename('fullpath'));
tests = dir(fullfile(here, 'mpitb_*.m'));
text = '';
for k = 1:numel(tests)
  text = [text, fileread(fullfile(here, tests(k).name))];
end
for k = 1:numel(names)
  help_text = fileread(fullfile(folder, [names{k} '.m']));
  assert(~isempty(strfind(help_text, ['% ' names{k} '  '])), names{k});
  assert(fileparts(which(names{k})), folder);
  if is_constant(k)
    value = feval(names{k});
    assert(isa(value, 'double') && isscalar(value), names{k});
  else
    assert(~isempty(regexp(text, [names{k} '\>'], 'once')), 'no test calls %s', names{k});
    % The example calls the function, and is a statement of the language.
    example = regexp(help_text, '(?<=% Example: )[^\n]*', 'match', 'once');
    assert(~isempty(regexp(example, ['\<' names{k} '\>'], 'once')), 'the help of %s has no example', names{k});
    eval(sprintf('if false\n%s\nend', example));
  end
end
% Constants of one kind differ.
for kind = {{'MPI_COMM_WORLD', 'MPI_COMM_SELF', 'MPI_COMM_NULL'}, {'MPI_MAX', 'MPI_MIN', 'MPI_SUM', 'MPI_PROD', 'MPI_LAND', ...
            'MPI_LOR', 'MPI_LXOR', 'MPI_BAND', 'MPI_BOR', 'MPI_BXOR', 'MPI_REPLACE', 'MPI_OP_NULL'}, {'MPI_ANY_SOURCE', ...
            'MPI_PROC_NULL', 'MPI_ROOT', 'MPI_UNDEFINED', 'MPI_CANCEL_SOURCE'}, {'MPI_IDENT', 'MPI_CONGRUENT', 'MPI_SIMILAR', ...
            'MPI_UNEQUAL'}, {'MPI_CART', 'MPI_GRAPH', 'MPI_UNDEFINED'}, {'MPI_ERRORS_ARE_FATAL', 'MPI_ERRORS_RETURN', ...
            'MPI_ERRHANDLER_NULL'}, {'MPI_SUCCESS', 'MPI_ERR_RANK', 'MPI_ERR_TAG', 'MPI_ERR_TRUNCATE', 'MPI_ERR_ARG', 'MPI_ERR_COMM'}}
  values = cellfun(@(name) feval(name), kind{1});
  assert(numel(unique(values)), numel(values));
end
assert(MPI_SUCCESS, 0);
assert(MPI_VERSION >= 3 && MPI_SUBVERSION >= 0);
