function print_record(figure, ranks, bytes, values, unit)
% PRINT_RECORD One line of JSON for the runner: the median of the values, the best and the worst.
%
%   print_record(figure, ranks, bytes, values, unit)
  if any(strcmp(unit, {'us', 'ms'}))
    best = min(values);
    worst = max(values);
  else
    best = max(values);
    worst = min(values);
  end
  line = '{"figure":"%s","ranks":%d,"bytes":%d,"value":%.6g,"best":%.6g,"worst":%.6g,"unit":"%s"}\n';
  fprintf(line, figure, ranks, bytes, median(values), best, worst, unit);
  fflush(stdout);
end
