"""Proxies between a client and an agent, and a conductor that chains them."""

from __future__ import annotations

from accord.proxy.conductor import Conductor as Conductor
from accord.proxy.conductor import chain as chain
from accord.proxy.handlers import to_agent as to_agent
from accord.proxy.handlers import to_client as to_client
from accord.proxy.message import Notification as Notification
from accord.proxy.message import ProxyPeer as ProxyPeer
from accord.proxy.message import Request as Request
from accord.proxy.proxy import Proxy as Proxy
from accord.proxy.run import run as run
from accord.proxy.run import serve as serve

__all__ = [
    "Conductor",
    "Notification",
    "Proxy",
    "ProxyPeer",
    "Request",
    "chain",
    "run",
    "serve",
    "to_agent",
    "to_client",
]
