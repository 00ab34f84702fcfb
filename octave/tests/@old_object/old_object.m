% An object of an old class, for objects.m.
function o = old_object(varargin)
  o = class(struct('values', {varargin}, 'note', ''), 'old_object');
end
