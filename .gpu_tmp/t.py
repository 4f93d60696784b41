import cudakern as ck, numpy as np, functools, torch
from cudakern.measure.rounds import quantiles, timed
g=np.random.default_rng()
K={"normal":lambda s:g.standard_normal(s),"exp":lambda s:g.exponential(size=s),"relu":lambda s:np.maximum(g.standard_normal(s),0),"t4":lambda s:g.standard_t(4,s),"cauchy":lambda s:g.standard_cauchy(s),"90%0":lambda s:g.standard_normal(s)*(g.random(s)>.9)}
for n in (2048,3000,4096,8192):
    for kind,f in K.items():
        if n==8192 and kind not in ("normal","exp","cauchy"): continue
        a,b=ck.asarray(f((n,n))),ck.asarray(f((n,n))); ta,tb=torch.from_dlpack(a),torch.from_dlpack(b)
        calls={"torch":lambda: ta@tb,"res":functools.partial(ck.matmul,a,b,variant="residues_int8")}
        if n<5000: calls["dmma"]=functools.partial(ck.matmul,a,b,variant="tensor_cores_double")
        t={w:quantiles(x)["0.5"]/1e3 for w,x in timed(calls,7).items()}
        y=calls["res"]().get()[:4]; A=a.get()[:4]; B=b.get(); r=A.astype(np.longdouble)@B[:,:400]; w=np.abs(A)@np.abs(B[:,:400])
        e=float(np.max(np.abs(y[:,:400]-r)/w))*2**53
        print(n,kind,{w:round(x,1) for w,x in t.items()},'ratio %.2f'%(t['torch']/t['res']),'err %.2f'%e,flush=True)
