// exclusive_scan: for each element, the sum of all elements before it. Read the files of ladder/ in
// their order; launches.cuh has the table.
#define SCAN_EXCLUSIVE true
#include "launches.cuh"

CK_OPERATION_WITH(exclusive_scan, "The sum of all elements before each element", 1, 1, scan, NULL, NULL)
