"""Answers the requests of the service recommendation."""

from platform_shop.guard import serve
from recommendation.similar import Similar


def route(request, context):
    return Similar(context.mongo).find_similar(request.product)


def main(requests, context):
    serve(requests, route, context)
