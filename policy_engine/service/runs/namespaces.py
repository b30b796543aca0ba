"""A process without a network: by a namespace of its own, or else by refusing sockets."""

import ctypes
import fcntl
import os
import socket
import struct
import sys
from contextlib import suppress
from pathlib import Path
from typing import Any

_NEW_USER, _NEW_NETWORK = 0x10000000, 0x40000000
_DIE_WITH_PARENT = 1
_NETWORK_EVENTS = frozenset(
    {"socket.connect", "socket.bind", "socket.sendto", "socket.getaddrinfo", "socket.sendmsg"}
)
_GIVE_FLAGS, _UP = 0x8914, 0x1
_INTERFACE = "16sh22x"
"""A request about an interface: its name, its flags, and what is not used (netdevice(7))."""
_LOOPBACK = ("127.0.0.1", "::1", "localhost")
OWN_NAMESPACE = "no network: a namespace of its own"
NO_SOCKETS = "no network: sockets are refused"
OWN_LOOPBACK = "no network but a loopback of its own: a namespace of its own"
LOOPBACK_ALONE = "no network but the loopback: Python refuses other sockets, Java does not"


def leave_network() -> str:
    """Cut this process and those that it starts off from the network; return how, in words.

    On Linux that is a network namespace without devices. Where none can be made, Python refuses
    sockets but those within the machine: a library in C could still open some.
    """
    if sys.platform == "linux" and (_unshare(_NEW_NETWORK) or _leave_as_user()):
        return OWN_NAMESPACE
    sys.addaudithook(_refuse_sockets)
    return NO_SOCKETS


def leave_for_loopback() -> str:
    """Cut this process and those that it starts off from all but a loopback; return how, in words.

    On Linux that is the loopback of a network namespace, which leads to nothing outside of it.
    Where none can be made, it is that of the machine, and Python refuses others to this process,
    but not to those that it starts. Raises OSError where the loopback cannot be had.
    """
    if sys.platform == "linux" and (_unshare(_NEW_NETWORK) or _leave_as_user()):
        _bring_up("lo")
        return OWN_LOOPBACK
    sys.addaudithook(_refuse_beyond_loopback)
    return LOOPBACK_ALONE


def die_with_parent(number: int, parent: int) -> None:
    """Have this process end by a signal once its parent has, also if that has ended already."""
    if sys.platform == "linux":
        _c_library().prctl(_DIE_WITH_PARENT, number, 0, 0, 0)
    if os.getppid() != parent:
        os._exit(1)


def _leave_as_user() -> bool:
    """Make namespaces of a user, who is who it was, and of a network."""
    user, group = os.getuid(), os.getgid()
    if not _unshare(_NEW_USER | _NEW_NETWORK):
        return False
    with suppress(OSError):  # files stay its own, whatever their owner is called
        Path("/proc/self/setgroups").write_text("deny", "ascii")
        Path("/proc/self/uid_map").write_text(f"{user} {user} 1", "ascii")
        Path("/proc/self/gid_map").write_text(f"{group} {group} 1", "ascii")
    return True


def _bring_up(interface: str) -> None:
    """Bring an interface up. Who made the namespace may, without being root outside of it."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as one:
        fcntl.ioctl(one, _GIVE_FLAGS, struct.pack(_INTERFACE, interface.encode(), _UP))


def _unshare(flags: int) -> bool:
    try:
        return int(_c_library().unshare(flags)) == 0
    except (OSError, AttributeError):
        return False


def _c_library() -> ctypes.CDLL:
    return ctypes.CDLL(None, use_errno=True)


def _refuse_sockets(event: str, arguments: tuple[Any, ...]) -> None:
    if event == "socket.__new__" and arguments[1] not in (socket.AF_UNIX, -1):
        raise PermissionError("A run has no network.")
    if event in _NETWORK_EVENTS and not _is_local(arguments):
        raise PermissionError("A run has no network.")


def _refuse_beyond_loopback(event: str, arguments: tuple[Any, ...]) -> None:
    if event not in _NETWORK_EVENTS or _is_local(arguments):
        return
    host = arguments[0] if event == "socket.getaddrinfo" else _host(arguments[1])
    if host not in _LOOPBACK:
        raise PermissionError("A run has no network but the loopback.")


def _host(address: Any) -> Any:
    """Return the host of an address; that of a socket which is connected was looked at then."""
    if address is None:
        return _LOOPBACK[0]
    return address[0] if isinstance(address, tuple) else address


def _is_local(arguments: tuple[Any, ...]) -> bool:
    return getattr(arguments[0], "family", None) == socket.AF_UNIX
