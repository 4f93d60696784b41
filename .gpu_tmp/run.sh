export PYTHONPATH=$PWD; R=$OUT; unset OUT
timeout 100 python3 .gpu_tmp/t.py
timeout 100 python3 -m pytest -q -n 12 tests/test_matmul.py tests/test_matmul_kernels.py tests/test_matmul_pipelines.py tests/test_residues.py 2>&1 | tail -4
