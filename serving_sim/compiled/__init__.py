"""The event-jump engine compiled with numba (optional extra ``fast``).

It plays open workloads under the built-in rules with the very results of the SimPy engine, bit for bit.
Nothing here but `choice` is imported before a run asks for it, since that imports numba; nothing is
compiled before the first run, and what was compiled is kept on disk.
"""
