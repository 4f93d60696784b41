// Shows: Thrust's vectors, generate, sort, copy and reduce.
#include <thrust/host_vector.h>
#include <thrust/device_vector.h>
#include <thrust/generate.h>
#include <thrust/sort.h>
#include <thrust/copy.h>
#include <thrust/reduce.h>
#include <thrust/sequence.h>
#include <algorithm>
#include <iostream>

struct Lcg { unsigned s = 1; int operator()() { s = s * 1664525u + 1013904223u; return int(s >> 12); } };

int main() {
  thrust::host_vector<int> h_vec(10000);
  thrust::generate(h_vec.begin(), h_vec.end(), Lcg{});
  thrust::device_vector<int> d_vec = h_vec;
  thrust::sort(d_vec.begin(), d_vec.end());
  thrust::host_vector<int> sorted(d_vec.size());
  thrust::copy(d_vec.begin(), d_vec.end(), sorted.begin());
  std::sort(h_vec.begin(), h_vec.end());
  std::cout << (sorted == h_vec ? "sorted" : "not sorted") << "\n";

  long long sum = thrust::reduce(d_vec.begin(), d_vec.end(), 0LL, thrust::plus<long long>());
  int top = thrust::reduce(d_vec.begin(), d_vec.end(), 0, thrust::maximum<int>());
  long long expected = 0;
  for (int v : h_vec) expected += v;
  std::cout << sum << " " << expected << ", " << (top == h_vec.back() ? "largest" : "not largest") << "\n";

  thrust::device_vector<float> x(5, 2.5f);
  x[1] = 7;
  x.push_back(-1);
  thrust::sequence(x.begin() + 2, x.end(), 10.0f);
  for (size_t i = 0; i < x.size(); i++) std::cout << x[i] << " ";
  std::cout << std::endl;
}
