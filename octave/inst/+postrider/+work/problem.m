function described = problem(exception, index)
% PROBLEM  An error at an element as a struct that can be sent, which is also what an ErrorHandler is called with.
  described = struct('message', exception.message, 'identifier', exception.identifier, 'index', index);
end
