function gone = is_gone(worker)
% IS_GONE  Whether a worker's process has ended. MPI says so only to who waits in a receive; workers run on the host of the session.
  gone = exist(sprintf('/proc/%d', worker.process), 'dir') ~= 7;
end
