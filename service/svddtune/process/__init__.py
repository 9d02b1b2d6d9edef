"""What service and worker share as processes: reading settings, writing logs."""
