"""The turns of a conversation."""

from agent import tools


def run_turn(model, conversation, text):
    answer = model.create(messages=[*conversation, {"role": "user", "content": text}])
    while answer.tool:
        answer = model.create(messages=[*conversation, run_tool(answer.tool)])
    return answer.text


def run_tool(request):
    tool = getattr(tools, request.name)
    return tool(**request.arguments)
