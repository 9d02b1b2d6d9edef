"""URLs of Redis: one server, a Cluster, or a master that Sentinels know."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal
from urllib.parse import parse_qsl, urlencode

Kind = Literal["server", "cluster", "sentinel"]
Node = tuple[str, int]

_PREFIX = "sentinel_"
_PORTS = {"server": 6379, "cluster": 6379, "sentinel": 26379}


@dataclass(frozen=True, slots=True)
class Address:
    """What a URL says.

    Of one server only ``url`` is of use: the driver reads it.
    """

    kind: Kind
    url: str
    # Nodes of the Cluster, or Sentinels; one that answers is enough.
    nodes: tuple[Node, ...] = ()
    # The master's name.
    name: str = ""
    # Credentials at the Sentinels.
    of_sentinels: Mapping[str, str] = field(default_factory=dict)
    _scheme: str = ""
    _user: str = ""
    _tail: str = ""

    def at(self, node: Node) -> str:
        """URL of one server of the Cluster, or of the master, with all that the URL says."""
        host, port = node
        named = f"[{host}]" if ":" in host else host
        return f"{self._scheme}://{self._user}{named}:{port}/{self._tail}"


def parse(url: str) -> Address:
    """Read a URL.

    ``redis+cluster://[USER:PASSWORD@]HOST[:PORT],.../[?OPTION=...]`` names nodes of a Cluster,
    ``redis+sentinel://[USER:PASSWORD@]HOST[:PORT],.../NAME[/DATABASE][?OPTION=...]`` Sentinels and
    the name of a master. User, password and options hold for the servers; the options
    ``sentinel_username`` and ``sentinel_password`` for the Sentinels, ``rediss`` for both.

    Raises ValueError.
    """
    scheme, _, rest = url.partition("://")
    tls, _, kind = scheme.partition("+")
    if kind not in ("cluster", "sentinel"):
        return Address("server", url)
    kind_: Kind = "cluster" if kind == "cluster" else "sentinel"
    rest, _, query = rest.partition("?")
    options = dict(parse_qsl(query, keep_blank_values=True))
    of_sentinels = {
        name.removeprefix(_PREFIX): options.pop(name)
        for name in (_PREFIX + "username", _PREFIX + "password")
        if name in options
    }
    hosts, _, path = rest.partition("/")
    user, at, hosts = hosts.rpartition("@")
    name, _, database = path.partition("/")
    if kind_ == "cluster" and name.strip("0"):
        raise ValueError("a Cluster has no databases: leave out what follows the hosts")
    if kind_ == "sentinel" and not name:
        raise ValueError("it must name the master after the hosts: redis+sentinel://HOST:PORT/NAME")
    return Address(
        kind_,
        url,
        nodes=tuple(_node(one, _PORTS[kind_]) for one in hosts.split(",")),
        name=name,
        _scheme=tls,
        _user=user + at,
        of_sentinels=of_sentinels,
        _tail=(database or "0") + ("?" + urlencode(options) if options else ""),
    )


def _node(text: str, port: int) -> Node:
    host, colon, digits = text.rpartition(":")
    if not colon or text.endswith("]"):
        host, digits = text, str(port)
    host = host.strip("[]")
    if not host or not digits.isascii() or not digits.isdigit() or int(digits) > 65535:
        raise ValueError(f"{text!r} is not HOST:PORT")
    return host, int(digits)
