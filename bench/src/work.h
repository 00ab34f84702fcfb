/* Work that takes a known time as long as nobody else wants the processor, and uses no memory. */
#ifndef POSTRIDER_BENCH_WORK_H
#define POSTRIDER_BENCH_WORK_H

/* Seconds of a step, those of the fastest rank. Collective. */
double work_step_s(void);

/* So many steps. */
void work(long steps);

#endif
