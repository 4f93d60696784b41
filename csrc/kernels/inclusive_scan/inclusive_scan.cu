// inclusive_scan: the sum of all elements up to each one, itself among them. Kernels, launches and table are those of
// exclusive_scan: begin with ../exclusive_scan/serial.cuh.
#define SCAN_NAME      "inclusive_scan"
#define SCAN_EXCLUSIVE false
#include "../exclusive_scan/launches.cuh"

extern "C" {
extern const ck_operation ck_operation_inclusive_scan;
const ck_operation ck_operation_inclusive_scan = {
    SCAN_NAME,
    "The sum of the elements up to each element, itself among them",
    1,
    1,
    scan::variants,
    ck_length_of(scan::variants),
    scan::work,
    NULL,
    NULL,
};
}
