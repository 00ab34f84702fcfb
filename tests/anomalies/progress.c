/* What has been started goes on while the program computes, on systems that refuse copies between processes: the program of the
 * chapter on point-to-point communication. */
#include "../point-to-point/progress.c"
