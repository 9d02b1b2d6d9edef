"""Settings and logs of a process, shared by service and worker."""
