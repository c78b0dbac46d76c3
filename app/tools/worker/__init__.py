"""Tool files run here, each in a process of its own.

`file_worker` is what the app holds: one version of one file, its process started when needed. `process` is one life of
that process as the app sees it. What runs inside: `child` and the modules it imports. Both sides speak `protocol`.
"""
