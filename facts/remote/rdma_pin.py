"""Register memory with every RDMA device, let it go, and print one JSON line: `{"pins": [{"device", "size_bytes",
"error"}, …]}`, or `{"unobserved": why}` where nothing could be tried.

By libibverbs itself, through ctypes: a Spark has the library for NCCL, and rarely a compiler.
"""

import ctypes
import json
import mmap
import os

ACCESS = 1 | 2 | 4
"""IBV_ACCESS_LOCAL_WRITE, REMOTE_WRITE, REMOTE_READ, as in infiniband/verbs.h."""
SHARE = 4
"""One part in so many of the available memory is taken at most."""


def library():
    verbs = ctypes.CDLL("libibverbs.so.1", use_errno=True)
    pointer, number = ctypes.c_void_p, ctypes.c_int
    signatures = {
        "ibv_get_device_list": (ctypes.POINTER(pointer), [ctypes.POINTER(number)]),
        "ibv_get_device_name": (ctypes.c_char_p, [pointer]),
        "ibv_open_device": (pointer, [pointer]),
        "ibv_alloc_pd": (pointer, [pointer]),
        "ibv_reg_mr": (pointer, [pointer, pointer, ctypes.c_size_t, number]),
        "ibv_dereg_mr": (number, [pointer]),
        "ibv_dealloc_pd": (number, [pointer]),
        "ibv_close_device": (number, [pointer]),
    }
    for name, (result, arguments) in signatures.items():
        function = getattr(verbs, name)
        function.restype, function.argtypes = result, arguments
    return verbs


def available_bytes():
    with open("/proc/meminfo") as lines:
        for line in lines:
            if line.startswith("MemAvailable:"):
                return int(line.split()[1]) * 1024
    return 0


def failed(call):
    return "%s: %s" % (call, os.strerror(ctypes.get_errno()))


def pinned(verbs, device, address, size):
    """None, or what failed."""
    context = verbs.ibv_open_device(device)
    if not context:
        return failed("ibv_open_device")
    domain = verbs.ibv_alloc_pd(context)
    error = None if domain else failed("ibv_alloc_pd")
    if domain:
        region = verbs.ibv_reg_mr(domain, address, size, ACCESS)
        if not region:
            error = failed("ibv_reg_mr")
        elif verbs.ibv_dereg_mr(region):
            error = failed("ibv_dereg_mr")
        verbs.ibv_dealloc_pd(domain)
    verbs.ibv_close_device(context)
    return error


def main(arguments):
    try:
        verbs = library()
    except (OSError, AttributeError) as error:
        print(json.dumps({"unobserved": "expected libibverbs.so.1, found %s" % error}))
        return
    wanted = min(json.loads(arguments)["size_bytes"], available_bytes() // SHARE)
    size = max(wanted // mmap.PAGESIZE, 1) * mmap.PAGESIZE
    count = ctypes.c_int(0)
    devices = verbs.ibv_get_device_list(ctypes.byref(count))
    memory = mmap.mmap(-1, size)
    anchor = ctypes.c_char.from_buffer(memory)
    pins = [
        {
            "device": verbs.ibv_get_device_name(devices[at]).decode(),
            "size_bytes": size,
            "error": pinned(verbs, devices[at], ctypes.addressof(anchor), size),
        }
        for at in range(count.value if devices else 0)
    ]
    print(json.dumps({"pins": pins}))
