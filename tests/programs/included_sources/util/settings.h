#define BLOCK_SIZE   128
#define DEFAULT_COLS 3000
#define DEFAULT_ROWS 20
#define M_SEED       9
#define MIN(a, b)    ((a) <= (b) ? (a) : (b))
