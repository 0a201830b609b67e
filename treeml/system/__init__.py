"""Files, memory, signals and processes: everything that TreeML needs from the operating system.

This is the lowest layer and knows nothing about trees or specifications. Every other package may import its modules:
`reading` (bounded reads of files named by others), `writing` (atomic replacement of files), `confinement` (writes that
stay inside one folder), `memory` (of Windows in `windows_memory`), `interrupt` (Ctrl-C as a flag), `child` (worker
processes) and `exits`.
"""
