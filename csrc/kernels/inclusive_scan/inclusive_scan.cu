// inclusive_scan: for each element, the sum of all elements up to and including it. Kernels, launches and table are
// those of exclusive_scan: begin with ../exclusive_scan/ladder/01_serial.cuh.
#define SCAN_EXCLUSIVE false
#include "../exclusive_scan/launches.cuh"

CK_OPERATION_WITH(inclusive_scan, "The sum of all elements up to and including each element", 1, 1, scan, NULL, NULL)
