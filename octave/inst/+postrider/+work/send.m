function send(to, value, what, call, first)
% SEND  Sends a value between a session and a worker, and behind it a header: what it is, of which call, and its first element.
%
%   postrider.work.send(to, value, what, call, first)
%
% The value goes first: if it cannot be sent, that is an error before anything has been.
  to.send(value, 0);
  to.send(struct('what', what, 'call', call, 'first', first), 0);
end
