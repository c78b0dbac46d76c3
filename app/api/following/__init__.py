"""Runs begun and followed over HTTP: streams, sockets, requests sent twice."""
