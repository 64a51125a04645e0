"""Workers on a Ray cluster, as actors of Ray Core.

Actors start again (``max_restarts``) and parcels are asked again (``max_task_retries``) for ever, so that a dead worker
or node costs the parcels that it had, and nothing else. Workers find API keys in the environment of their own node: no
key ever travels.
"""

import math
import os
import sys
from collections.abc import Sequence
from contextlib import ExitStack, redirect_stdout
from typing import Any

from dspy.lm15 import Request, Response

from judgec.errors import ServiceError, UserError
from judgec.lm.cluster.parcels import Attempts, Failure, Parcels
from judgec.lm.door import open_backend
from judgec.lm.endpoint.exchange import Completion, Plain
from judgec.lm.spec import LMSpec

IN_FLIGHT = 256  # calls at once, all workers together
SMALLEST, LARGEST = 50, 200  # calls in a parcel: below, Ray's own cost shows; above, a death costs much
START_SECONDS = 120.0


class Cluster:
    """A Ray cluster: one that runs, or a small one on this machine that ends with the run.

    Args:
        address: Of the cluster (``auto``, ``host:6379``, ``ray://host:10001``), or None to start one here.

    Raises:
        UserError: When Ray is not installed.
        ServiceError: When no cluster answers at the address.
    """

    def __init__(self, address: str | None = None) -> None:
        os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")  # Ray has no parameter for this
        os.environ.setdefault("RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO", "0")  # and warns without this one
        try:
            import ray
        except ImportError:
            raise UserError(
                "--engine ray: Ray is not installed; the extra 'ray' brings it. Run pip install 'judgec[ray]'."
            ) from None
        self._ray: Any = ray  # no types without the extra
        self._opened = ExitStack()
        if ray.is_initialized():
            return
        self._opened.enter_context(redirect_stdout(sys.stderr))  # Ray tells of dead workers on stdout, which is ours
        try:
            ray.init(address=address or "local", log_to_driver=False, logging_level="ERROR")
        except (ConnectionError, RuntimeError, ValueError, TimeoutError) as error:
            self._opened.close()
            raise ServiceError(
                f"--ray-address {address}: no Ray cluster answers ({str(error).splitlines()[0]}). "
                "Start one with 'ray start --head', or leave the option out."
            ) from error
        self._opened.callback(ray.shutdown)

    def workers(self, spec: LMSpec, in_flight: int = IN_FLIGHT) -> Parcels:
        """Workers on all nodes, each with a client of its own, as a ``Backend``.

        Args:
            spec: The model.
            in_flight: Most calls at once, all workers together.

        Raises:
            ServiceError: When they do not start.
        """
        cpus = int(self._ray.cluster_resources().get("CPU", 1))
        count = max(1, min(cpus, math.ceil(in_flight / SMALLEST)))
        remote = self._ray.remote(_Actor).options(
            max_restarts=-1,
            max_task_retries=-1,
            max_concurrency=LARGEST,
            scheduling_strategy="SPREAD",
        )
        actors = [remote.remote(spec) for _ in range(count)]
        try:
            self._ray.get([actor.ready.remote() for actor in actors], timeout=START_SECONDS)
        except self._ray.exceptions.RayError as error:
            raise ServiceError(
                f"--engine ray: no worker started within {START_SECONDS:g} s ({str(error).splitlines()[0]}). "
                "judgec must be installed on every node: see 'ray status'."
            ) from error
        size = max(1, min(LARGEST, in_flight // count))
        return Parcels([_Remote(actor) for actor in actors], size, open_backend(spec).identity)

    def close(self) -> None:
        """Leave the cluster; one that was started here ends."""
        self._opened.close()


class _Actor:
    """``Attempts`` with a client that is opened where it runs."""

    def __init__(self, spec: LMSpec) -> None:
        self._attempts = Attempts(open_backend(spec))

    async def ready(self) -> bool:
        return True

    async def answer(self, asked: Sequence[Plain]) -> list[Completion | Failure]:
        return await self._attempts.answer(asked)

    async def complete(self, request: Request) -> Response | Failure:
        return await self._attempts.complete(request)


class _Remote:
    """An actor as a ``Worker``."""

    def __init__(self, actor: Any) -> None:  # Ray's handle
        self._actor = actor

    async def answer(self, asked: Sequence[Plain]) -> list[Completion | Failure]:
        replies: list[Completion | Failure] = await self._actor.answer.remote(asked)
        return replies

    async def complete(self, request: Request) -> Response | Failure:
        reply: Response | Failure = await self._actor.complete.remote(request)
        return reply
