"""Answers the requests of the service support-agent."""

from platform_shop.guard import serve
from agent.loop import run_turn


def route(request, context):
    return run_turn(context.model, request.conversation, request.text)


def main(requests, context):
    serve(requests, route, context)
