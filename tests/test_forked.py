"""A fork goes on alone: what waits or works in other threads of the tests stays with them."""

import socket
import threading

import gevent

from tests import forked


def waits() -> None:
    gevent.sleep(0.2)
    print("alone")


def test_no_thread_of_the_tests_goes_on_in_a_fork() -> None:
    here, there = socket.socketpair()
    thread = threading.Thread(target=lambda: here.recv(1))
    thread.start()
    gevent.sleep(0)
    other = gevent.spawn_later(0.05, print, "not alone", flush=True)
    try:
        done = forked.ran(waits)
        assert (done.returncode, done.stdout, done.stderr) == (0, "alone\n", "")
    finally:
        other.kill()
        there.send(b"x")
        thread.join()
        here.close()
        there.close()
