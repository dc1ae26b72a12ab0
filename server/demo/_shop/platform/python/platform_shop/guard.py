"""What the services share."""

import time


class Guard:
    @staticmethod
    def run(work):
        return Guard.attempt(work)

    @staticmethod
    def attempt(work):
        return work()


def handle(request, route, context):
    return Guard.run(lambda: route(request, context))


def serve(requests, route, context):
    for request in requests:
        request.reply(handle(request, route, context))


class Memory:
    @staticmethod
    def grow(size):
        return bytearray(size)


class Upstream:
    @staticmethod
    def pick(healthy, region):
        if not healthy:
            raise RuntimeError("no healthy upstream in " + region)
        return healthy[0]


class Experiment:
    @staticmethod
    def run_plan(flag, plans):
        if flag not in plans:
            raise RuntimeError(flag + ": the request has no plan")
        return plans[flag]()


class Cache:
    @staticmethod
    def read_entry(key, entry):
        if entry[0] != 2:
            raise ValueError("cannot decode the entry for " + key)
        return entry[1:]


class Handler:
    @staticmethod
    def prepare(request):
        if request.totals is None:
            raise ValueError("the field totals is missing")
        return request.totals


class Connection:
    @staticmethod
    def handshake(expires, dependency):
        if expires < time.time():
            raise ConnectionError("certificate of " + dependency + " has expired")

    @staticmethod
    def read(sock, dependency):
        data = sock.recv(4096)
        if not data:
            raise ConnectionError("connection to " + dependency + " was reset")
        return data
