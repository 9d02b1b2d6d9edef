"""The faults: each one strikes a deployment, lasts its time, and is over when it returns."""

import os
import signal
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager

from tests.chaos.deployment import Deployment
from tests.chaos.schedule import Fault

Strike = Callable[[Deployment, Fault], None]


def which(fault: Fault) -> int:
    """Which of two it strikes."""
    return int(fault.seconds * 1e6 + fault.after) % 2


@contextmanager
def stopped(pids: Iterable[int]) -> Iterator[None]:
    """Processes that do not move."""
    known = list(pids)
    for pid in known:
        os.kill(pid, signal.SIGSTOP)
    try:
        yield
    finally:
        for pid in known:
            os.kill(pid, signal.SIGCONT)


# Processes


def kill_service(deployment: Deployment, fault: Fault) -> None:
    deployment.end_service(which(fault), hard=True)


def restart_service(deployment: Deployment, fault: Fault) -> None:
    deployment.end_service(which(fault), hard=False)


def kill_worker(deployment: Deployment, fault: Fault) -> None:
    deployment.ready()
    deployment.end_worker(fault.after % 2, hard=True)


def kill_workers(deployment: Deployment, fault: Fault) -> None:
    deployment.ready()
    for at in range(2):
        deployment.end_worker(at, hard=True)


def restart_worker(deployment: Deployment, fault: Fault) -> None:
    deployment.ready()
    deployment.end_worker(fault.after % 2, hard=False)


def swap_service(deployment: Deployment, fault: Fault) -> None:
    deployment.end_service(which(fault), hard=False, swap=True)


def swap_worker(deployment: Deployment, fault: Fault) -> None:
    deployment.ready()
    deployment.end_worker(fault.after % 2, hard=False, swap=True)


def kill_store(deployment: Deployment, fault: Fault) -> None:
    deployment.store.kill(fault.seconds)


def kill_labeler(deployment: Deployment, fault: Fault) -> None:
    deployment.labelers[which(fault)].kill_and_start(fault.seconds)


def stop_service(deployment: Deployment, fault: Fault) -> None:
    deployment.ready()
    with stopped([deployment.services[which(fault)].pid]):
        time.sleep(fault.seconds)


def stop_worker(deployment: Deployment, fault: Fault) -> None:
    deployment.ready()
    with stopped([deployment.workers[which(fault)].pid]):
        time.sleep(fault.seconds)


def stop_workers(deployment: Deployment, fault: Fault) -> None:
    deployment.ready()
    with stopped(one.pid for one in deployment.workers):
        time.sleep(fault.seconds)


def stop_labeler(deployment: Deployment, fault: Fault) -> None:
    with stopped([deployment.labelers[which(fault)].process.pid]):
        time.sleep(fault.seconds)


def freeze_store(deployment: Deployment, fault: Fault) -> None:
    with stopped([deployment.store.pid]):
        time.sleep(fault.seconds)


# Connections


def cut_labelers(deployment: Deployment, fault: Fault) -> None:
    deployment.fronts[which(fault)].cut()


def cut_store(deployment: Deployment, fault: Fault) -> None:
    deployment.store.proxy.cut()


def delay_labelers(deployment: Deployment, fault: Fault) -> None:
    front = deployment.fronts[which(fault)]
    front.delay_s = fault.seconds
    time.sleep(0.3)
    front.delay_s = 0.0


def delay_store(deployment: Deployment, fault: Fault) -> None:
    deployment.store.proxy.delay_s = fault.seconds
    time.sleep(0.3)
    deployment.store.proxy.delay_s = 0.0


def half_close_labelers(deployment: Deployment, fault: Fault) -> None:
    deployment.fronts[which(fault)].half_close()


def half_close_store(deployment: Deployment, fault: Fault) -> None:
    deployment.store.proxy.half_close()


def lose_replies_to_labelers(deployment: Deployment, fault: Fault) -> None:
    for front in deployment.fronts:
        front.lose_next(b"")


def lose_replies_of_store(deployment: Deployment, fault: Fault) -> None:
    deployment.store.proxy.lose_some(0.3, seed=fault.after)
    time.sleep(fault.seconds)
    deployment.store.proxy.lose_some(0.0, seed=0)


def unreachable_store(deployment: Deployment, fault: Fault) -> None:
    with deployment.store.proxy.unreachable():
        time.sleep(fault.seconds)


def unreachable_service(deployment: Deployment, fault: Fault) -> None:
    with deployment.fronts[which(fault)].unreachable():
        time.sleep(fault.seconds)


# The store


def full_memory(deployment: Deployment, fault: Fault) -> None:
    with deployment.store.direct() as client:
        client.config_set("maxmemory", 1)
        time.sleep(fault.seconds)
        client.config_set("maxmemory", 0)


def full_disk(deployment: Deployment, fault: Fault) -> None:
    with deployment.store.full_disk():
        time.sleep(fault.seconds)
    # The store has ended, and starts again once there is space.
    deployment.store.start_again()


def failover(deployment: Deployment, fault: Fault) -> None:
    deployment.store.fail_over()


def lost_master(deployment: Deployment, fault: Fault) -> None:
    deployment.store.lose_master()


def stop_replica(deployment: Deployment, fault: Fault) -> None:
    replica = deployment.store.replica
    assert replica is not None
    with stopped([replica.process.pid]):
        time.sleep(fault.seconds)


def clock_forward(deployment: Deployment, fault: Fault) -> None:
    deployment.store.jump(fault.seconds)


def clock_back(deployment: Deployment, fault: Fault) -> None:
    deployment.store.jump(-fault.seconds)


def lost_data(deployment: Deployment, fault: Fault) -> None:
    with deployment.store.direct() as client:
        client.flushall()


STRIKES: dict[str, Strike] = {
    strike.__name__: strike
    for strike in (
        kill_service,
        kill_worker,
        kill_workers,
        kill_store,
        kill_labeler,
        restart_service,
        restart_worker,
        swap_service,
        swap_worker,
        stop_service,
        stop_worker,
        stop_workers,
        stop_labeler,
        freeze_store,
        cut_labelers,
        cut_store,
        delay_labelers,
        delay_store,
        half_close_labelers,
        half_close_store,
        lose_replies_to_labelers,
        lose_replies_of_store,
        unreachable_store,
        unreachable_service,
        full_memory,
        full_disk,
        failover,
        lost_master,
        stop_replica,
        clock_forward,
        clock_back,
        lost_data,
    )
}
