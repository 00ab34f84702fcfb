function [value, header, wrong] = receive(from)
% RECEIVE  A value that postrider.work.send has sent, and what was said of it.
%
%   [value, header, wrong] = postrider.work.receive(from)
%
% from is the communicator between a session and a worker. A value that cannot be made here leaves value empty, and wrong is the
% exception that says why; otherwise wrong is []. Each end goes on by the header, which is always one that can be received.
%
% Errors: those of recv, when the other end has gone.
  wrong = [];
  try
    value = from.recv(0);
  catch problem
    value = [];
    wrong = problem;
  end
  header = from.recv(0);
end
