export PYTHONPATH=$PWD; R=$OUT; unset OUT
timeout 120 python3 .gpu_tmp/t.py
