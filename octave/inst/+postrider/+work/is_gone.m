function gone = is_gone(process)
% IS_GONE  Whether the process with this number, that of a worker, has ended. MPI says so only to who waits in a receive; workers run on the host of the session.
  gone = exist(sprintf('/proc/%d', process), 'dir') ~= 7;
end
