import cudakern as ck, numpy as np, functools, torch
from cudakern.measure.rounds import quantiles, timed
from cudakern.measure.resources import launches_of
g=np.random.default_rng()
def go(s, calls, n=9):
    t={w:quantiles(x)["0.5"]/1e3 for w,x in timed(calls,n).items()}
    print(s,{w:round(x,1) for w,x in t.items()},flush=True)
for s in [(512,512,65536),(1024,1024,16384),(768,768,20000),(1000,1000,8000),(384,384,100000),(640,1280,32768),(256,256,65536),(512,512,8192),(2048,1024,8192),(1500,1500,4096),(720,1000,5000)]:
    m,n,k=s
    a=ck.asarray(g.standard_normal((m,k)).astype('f2')); b=ck.asarray(g.standard_normal((k,n)).astype('f2'))
    ta=torch.from_dlpack(a); tb=torch.from_dlpack(b)
    calls={"torch":lambda: ta@tb,"auto":functools.partial(ck.matmul,a,b)}
    for v in ("wgmma_split_k","wgmma_groups","wgmma_persistent"): calls[v]=functools.partial(ck.matmul,a,b,variant=v)
    e=np.abs(calls["wgmma_groups"]().get()[:4]-a.get()[:4].astype(float)@b.get().astype(float)).max()/k**.5
    if not e<.01: print("WRONG",e)
    print(launches_of(calls["auto"])[0].kernel, end=' '); go(s,calls)
for n in (1024,2048,4096,8192,4000,3001):
    a=ck.asarray(g.integers(-128,128,(n,n),dtype=np.int8)); b=ck.asarray(g.integers(-128,128,(n,n),dtype=np.int8).T)
    o=ck.asarray(np.zeros((n,n),np.int32))
    f=lambda: ck.matmul(a,b,out=o,variant="wgmma_int8")
    x,y=a.get().astype(float),b.get().astype(float)
    assert (f().get()[::7]==x[::7]@y).all()
    go(n,{"int8":f}); t=quantiles(timed({"":f},5)[""])["0.5"]; print(2*n**3/t/1e3,"TOP/s")
    a=ck.asarray(g.standard_normal((n,n)).astype(np.float32)); b=ck.asarray(g.standard_normal((n,n)).astype(np.float32).T)
    tc=torch.from_dlpack(a); td=torch.from_dlpack(b)
    torch.backends.cuda.matmul.allow_tf32=True
    y=ck.matmul(a,b,variant="wgmma_tf32").get(); assert np.abs(y[::50]-a.get()[::50].astype(float)@b.get()).max()<.05*n**.5
    go(n,{"torch tf32":lambda: tc@td,"ours":lambda: ck.matmul(a,b,variant="wgmma_tf32")})
