import contextlib
import socket


def get_free_tcp_ports(n=1):
    """Ports that nothing listens on now."""
    ports = []
    for _ in range(n):
        with contextlib.closing(socket.socket(socket.AF_INET, socket.SOCK_STREAM)) as sock:
            sock.bind(("", 0))
            ports.append(sock.getsockname()[1])
    return ports
