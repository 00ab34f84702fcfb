function value = same_class(value, part)
% SAME_CLASS converts a value to the class of the array that it is assigned to.
%
%   value = postrider.same_class(value, part)
%
% The class on the left side of an assignment stays, as in MATLAB; Octave would change it.
%
% Errors: pMatlab:class if one of them is a cell and the other is not.
if strcmp(class(value), class(part))
  return
elseif iscell(value) || iscell(part)
  error('pMatlab:class', 'an array of class %s cannot take elements of class %s', class(part), class(value));
end
value = feval(class(part), value);
